#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "base/testing/temporary_folder.h"
#include "base/text.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  static unsigned mode(const fs::path& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 0777U : 0U;
  }

  const test::TemporaryFolder temporary_;
  fs::path folder_ = temporary_.path();
};

TEST_F(FileTest, ReplacesFilesAtomically) {
  const fs::path file = folder_ / "a.json";
  ASSERT_TRUE(replace_file(file, "one"));
  EXPECT_EQ(mode(file), 0600U);
  fs::permissions(file, fs::perms{0640});
  ASSERT_TRUE(replace_file(file, "two"));
  EXPECT_EQ(*read_file(file), "two");
  EXPECT_EQ(mode(file), 0640U) << "an existing mode is kept";
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

// The lock that another process would meet on the first byte.
bool is_locked(const fs::path& file) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int fd = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    struct flock lock{
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1, .l_pid = 0};
    ::_exit(fd >= 0 && ::fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? 1 : 0);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

TEST_F(FileTest, ReadingALockedFileDoesNotDropItsLocks) {
  const fs::path file = folder_ / "a.db";
  ASSERT_TRUE(replace_file(file, "one"));
  const int holder = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  struct flock lock{.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1, .l_pid = 0};
  {
    const auto first = LockedFile::protect(file);
    ASSERT_TRUE(first);
    ASSERT_EQ(::fcntl(holder, F_SETLK, &lock), 0);
    EXPECT_EQ(*read_file(file), "one");
    {
      const auto second = LockedFile::protect(file);
      EXPECT_TRUE(second);
      auto fd = open_file(file, O_RDONLY);
      EXPECT_TRUE(fd && fd->close(file));
    }
    EXPECT_TRUE(is_locked(file));
  }
  EXPECT_FALSE(is_locked(file)) << "the descriptors are closed with the last object";
  ASSERT_EQ(::fcntl(holder, F_SETLK, &lock), 0);
  EXPECT_EQ(*read_file(file), "one");
  EXPECT_FALSE(is_locked(file)) << "nothing is left open for a file without a LockedFile";
  ::close(holder);
  EXPECT_EQ(LockedFile::protect(folder_ / "none").error().code, Code::not_found);
}

TEST_F(FileTest, LinksAFileOnce) {
  const fs::path file = folder_ / "a";
  const fs::path second = folder_ / "b";
  ASSERT_TRUE(replace_file(file, "one"));
  ASSERT_TRUE(link_file(file, second));
  EXPECT_TRUE(link_file(file, second)) << "it has that name";
  EXPECT_TRUE(fs::equivalent(file, second));
  ASSERT_TRUE(replace_file(second, "two"));
  EXPECT_EQ(*read_file(file), "one");
  EXPECT_EQ(link_file(file, second).error().code, Code::conflict) << "another file";
  EXPECT_EQ(*read_file(second), "two");
  fs::create_symlink(file, folder_ / "link");
  EXPECT_EQ(link_file(folder_ / "link", folder_ / "c").error().code, Code::invalid_argument);
  EXPECT_EQ(link_file(folder_ / "none", folder_ / "c").error().code, Code::not_found);
}

TEST_F(FileTest, AFailedStatIsNotAMissingFile) {
  const auto missing = find_status(folder_ / "missing");
  ASSERT_TRUE(missing);
  EXPECT_FALSE(*missing);
  fs::create_symlink("loop", folder_ / "loop");
  const auto failed = find_status(folder_ / "loop" / "file");
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().code, Code::not_found);
}

TEST_F(FileTest, ResolvesPathsOfTheUser) {
  fs::create_directory(folder_ / "else");
  fs::create_symlink("else/second", folder_ / "first");
  fs::create_symlink("third", folder_ / "else" / "second");
  EXPECT_EQ(*resolve_path(folder_ / "first"), folder_ / "else" / "third") << "there or not";
  EXPECT_EQ(*resolve_path(folder_ / "else" / ".." / "new"), folder_ / "else" / ".." / "new");
  EXPECT_EQ(*resolve_folder_of(folder_ / "first"), folder_ / "first") << "a new name is no link";
  fs::create_symlink("loop", folder_ / "loop");
  EXPECT_EQ(resolve_path(folder_ / "loop").error().os_errno, ELOOP);
}

TEST_F(FileTest, ReportsTheKindOfAFile) {
  ASSERT_TRUE(replace_file(folder_ / "file", "one"));
  fs::create_symlink("nowhere", folder_ / "link");
  EXPECT_EQ(*kind_of(folder_ / "file"), FileKind::file);
  EXPECT_EQ(*kind_of(folder_), FileKind::folder);
  EXPECT_EQ(*kind_of(folder_ / "link"), FileKind::link);
  EXPECT_EQ(*kind_of_target(folder_ / "link"), FileKind::none);
  for (const fs::path& name :
       {folder_ / "no" / "such", folder_ / "file" / "below", folder_ / std::string(300, 'a')}) {
    EXPECT_EQ(*kind_of(name), FileKind::none) << name;
    EXPECT_EQ(*kind_of_target(name), FileKind::none) << name;
  }
}

// An error is not reported as absence.
TEST_F(FileTest, ReportsErrorsInsteadOfAbsence) {
  fs::create_symlink("loop", folder_ / "loop");
  EXPECT_EQ(*kind_of(folder_ / "loop"), FileKind::link);
  EXPECT_EQ(kind_of(folder_ / "loop" / "below").error().os_errno, ELOOP);
  EXPECT_EQ(file_exists(folder_ / "loop" / "below").error().os_errno, ELOOP);
  EXPECT_EQ(check_target(folder_ / "loop" / "below").error().os_errno, ELOOP);
}

TEST_F(FileTest, DoesNotBlockOnPipes) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  for (const int flags : {O_RDONLY, O_WRONLY, O_RDWR, O_WRONLY | O_CREAT | O_APPEND}) {
    EXPECT_EQ(open_file(folder_ / "pipe", flags).error().code, Code::invalid_argument);
  }
}

TEST_F(FileTest, CallsBackBeforeTheRename) {
  const fs::path file = folder_ / "a.json";
  ASSERT_TRUE(replace_file(file, "one"));
  std::string shown;
  const auto refused = replace_file(file, "two", [&](const fs::path& temporary) -> Result<> {
    shown = *read_file(temporary);
    return fail(Code::busy, "not now");
  });
  EXPECT_EQ(refused.error().code, Code::busy);
  EXPECT_EQ(shown, "two");
  EXPECT_EQ(*read_file(file), "one");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(FileTest, ErrorsNameTheReason) {
  const auto missing = read_file(folder_ / "missing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::not_found);
  EXPECT_EQ(missing.error().message,
            cat("cannot open ", (folder_ / "missing").string(), ": No such file or directory"));
  EXPECT_EQ(read_file(folder_).error().code, Code::invalid_argument);
  EXPECT_EQ(replace_file(folder_ / "no" / "such", "x").error().code, Code::not_found);
  ASSERT_TRUE(replace_file(folder_ / "long", "12345"));
  EXPECT_EQ(read_file(folder_ / "long", 4).error().code, Code::invalid_argument);
}

TEST_F(FileTest, MakesPrivateFolders) {
  ASSERT_TRUE(make_private_folders(folder_ / "a" / "b"));
  EXPECT_EQ(mode(folder_ / "a"), 0700U);
  EXPECT_EQ(mode(folder_ / "a" / "b"), 0700U);
  EXPECT_TRUE(make_private_folders(folder_ / "a" / "b"));
}

TEST_F(FileTest, DoesNotMoveOverExistingFiles) {
  ASSERT_TRUE(replace_file(folder_ / "a", "one"));
  ASSERT_TRUE(replace_file(folder_ / "b", "two"));
  EXPECT_EQ(move_file(folder_ / "a", folder_ / "b").error().code, Code::conflict);
  EXPECT_EQ(*read_file(folder_ / "b"), "two");
  ASSERT_TRUE(move_file(folder_ / "a", folder_ / "c"));
  EXPECT_EQ(*read_file(folder_ / "c"), "one");
  EXPECT_FALSE(fs::exists(folder_ / "a"));
  EXPECT_EQ(move_file(folder_ / "a", folder_ / "d").error().code, Code::not_found);
}

}  // namespace
}  // namespace reprise
