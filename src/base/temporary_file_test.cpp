#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <set>

#include "base/file.h"
#include "base/testing/temporary_folder.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

class TemporaryFileTest : public testing::Test {
 protected:
  TemporaryFileTest() { target_ = folder_ / "notes.json"; }

  auto count() const { return std::distance(fs::directory_iterator(folder_), {}); }

  // Starts a process that is writing the target and does not exit by itself.
  pid_t start_writer() const {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      auto file = TemporaryFile::create(target_);
      const bool written = file && write_all(file->fd(), "words", file->name());
      const char reply = written ? 'y' : 'n';
      (void)!::write(ends[1], &reply, 1);
      while (true) {
        ::pause();
      }
    }
    const Fd in(ends[0]);
    const Fd out(ends[1]);
    char reply = 0;
    EXPECT_EQ(::read(in.get(), &reply, 1), 1);
    EXPECT_EQ(reply, 'y');
    return child;
  }

  static void kill_writer(pid_t child) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }

  const test::TemporaryFolder temporary_;
  fs::path folder_ = temporary_.path();
  fs::path target_;
};

TEST_F(TemporaryFileTest, ArePrivateWhateverTheUmask) {
  const mode_t before = ::umask(0);
  const auto file = TemporaryFile::create(target_);
  ::umask(before);
  ASSERT_TRUE(file);
  struct stat status{};
  ASSERT_EQ(::fstat(file->fd(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(TemporaryFileTest, AreNotNamedInErrors) {
  EXPECT_EQ(os_error("write", "/x/a.db.reprise-0.tmp", ENOSPC).message,
            os_error("write", "/x/a.db", ENOSPC).message);
  EXPECT_EQ(os_error("write", "/x/a.reprise-12.tmp/b.reprise-0.tmp.reprise-1.tmp", ENOSPC).message,
            os_error("write", "/x/a/b", ENOSPC).message);
  EXPECT_NE(os_error("write", "/x/a.tmp", ENOSPC).message.find("a.tmp"), std::string::npos);
}

TEST_F(TemporaryFileTest, AreLimitedInNumber) {
  int taken = 0;
  for (; taken < 1000; ++taken) {
    fs::create_directory(folder_ / ("notes.json.reprise-" + std::to_string(taken) + ".tmp"));
  }
  const auto file = TemporaryFile::create(target_);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, Code::conflict);
  EXPECT_EQ(count(), taken);
}

TEST_F(TemporaryFileTest, TheNextWriterRemovesAbandonedFiles) {
  for (int i = 0; i < 5; ++i) {
    kill_writer(start_writer());
    EXPECT_EQ(count(), 1) << "the last one's alone";
  }
  ASSERT_TRUE(replace_file(target_, "whole"));
  EXPECT_EQ(*read_file(target_), "whole");
  EXPECT_EQ(count(), 1) << "the file itself";
}

TEST_F(TemporaryFileTest, SweepsAbandonedFilesOfAFolder) {
  const pid_t ended = start_writer();
  const auto put = [&](const std::string& name) { return replace_file(folder_ / name, "words"); };
  const auto old_name = [](const std::string& target, pid_t pid) {
    return target + "." + std::to_string(pid) + ".3.tmp";
  };
  kill_writer(ended);
  const pid_t writer = start_writer();
  ASSERT_TRUE(put("other.json.reprise-0.tmp"));
  ASSERT_TRUE(put(old_name("notes.json", ended)));
  ASSERT_TRUE(put(old_name("notes.json", ::getpid())));
  ASSERT_TRUE(put(old_name("notes.json", writer)));
  ASSERT_TRUE(put(old_name("thesis.tex", ended)));
  ASSERT_TRUE(put("notes.json.5.tmp"));
  ASSERT_TRUE(put("notes.json.making"));
  sweep_temporary_files(folder_, [](std::string_view name) { return name.ends_with(".json"); });
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    left.insert(entry.path().filename());
  }
  EXPECT_EQ(left, (std::set<std::string>{"notes.json.reprise-0.tmp", old_name("notes.json", writer),
                                         old_name("thesis.tex", ended), "notes.json.5.tmp",
                                         "notes.json.making"}));
  kill_writer(writer);
}

TEST_F(TemporaryFileTest, KeepsFilesOfLivingProcesses) {
  const pid_t first = start_writer();
  const pid_t second = start_writer();
  EXPECT_EQ(count(), 2);
  ASSERT_TRUE(replace_file(target_, "whole"));
  EXPECT_EQ(count(), 3);
  for (const char* const name : {"notes.json.reprise-0.tmp", "notes.json.reprise-1.tmp"}) {
    EXPECT_EQ(*read_file(folder_ / name), "words");
  }
  kill_writer(first);
  ASSERT_TRUE(replace_file(target_, "whole"));
  EXPECT_EQ(count(), 2) << "the living one's";
  EXPECT_EQ(*read_file(folder_ / "notes.json.reprise-1.tmp"), "words");
  kill_writer(second);
  ASSERT_TRUE(replace_file(target_, "whole"));
  EXPECT_EQ(count(), 1);
}

TEST_F(TemporaryFileTest, RemovesAbandonedFilesWithTheFile) {
  const pid_t child = start_writer();
  ASSERT_TRUE(replace_file(target_, "whole"));
  kill_writer(child);
  ASSERT_TRUE(remove_file(target_));
  EXPECT_EQ(count(), 0);
}

TEST_F(TemporaryFileTest, SupportLongNames) {
  const fs::path path = folder_ / std::string(255, 'n');
  const fs::path other = folder_ / (std::string(254, 'n') + "m");
  auto first = TemporaryFile::create(path);
  ASSERT_TRUE(first);
  ASSERT_TRUE(replace_file(other, "whole"));
  ASSERT_TRUE(replace_file(path, "whole"));
  EXPECT_EQ(count(), 3);
}

TEST_F(TemporaryFileTest, KeepsOtherFiles) {
  fs::create_symlink("elsewhere", folder_ / "notes.json.reprise-0.tmp");
  fs::create_directory(folder_ / "notes.json.reprise-1.tmp");
  std::ofstream(folder_ / "notes.json.2.3.tmp") << "an older version's";
  ASSERT_TRUE(replace_file(target_, "whole"));
  EXPECT_EQ(count(), 4);
  EXPECT_FALSE(fs::exists(folder_ / "elsewhere"));
}

TEST(TemporaryName, IsRecognized) {
  for (const std::string_view ours :
       {"notes.json.reprise-0.tmp", "a.reprise-12.tmp", "a.1.2.tmp"}) {
    EXPECT_TRUE(is_temporary_name(ours)) << ours;
  }
  for (const std::string_view other :
       {"notes.json", "notes.tmp", "notes.1.tmp", "notes.1.x.tmp", ".1.2.tmp", "notes..2.tmp",
        "a.reprise-.tmp", "a.reprise-x.tmp", ".reprise-1.tmp", "a.reprise-1"}) {
    EXPECT_FALSE(is_temporary_name(other)) << other;
  }
}

}  // namespace
}  // namespace reprise
