#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/temporary_name.h"
#include "base/text.h"
#include "reprise/error.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  FileTest() {
    std::string pattern = (fs::temp_directory_path() / "reprise-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FileTest() override { fs::remove_all(folder_); }

  static unsigned mode(const fs::path& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 0777U : 0U;
  }

  fs::path folder_;
};

TEST_F(FileTest, ReplacesWholeAndLeavesNothingBehind) {
  const fs::path file = folder_ / "a.json";
  ASSERT_TRUE(replace_file(file, "one"));
  EXPECT_EQ(mode(file), 0600U);
  fs::permissions(file, fs::perms{0640});
  ASSERT_TRUE(replace_file(file, "two"));
  EXPECT_EQ(*read_file(file), "two");
  EXPECT_EQ(mode(file), 0640U) << "an existing mode is kept";
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(FileTest, ReplacesWhatALinkPointsTo) {
  ASSERT_TRUE(replace_file(folder_ / "real", "one"));
  fs::create_symlink("real", folder_ / "link");
  ASSERT_TRUE(replace_file(folder_ / "link", "two"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(*read_file(folder_ / "real"), "two");
}

TEST_F(FileTest, CreatesWhatADanglingLinkPointsTo) {
  fs::create_directory(folder_ / "else");
  fs::create_symlink("else/second", folder_ / "first");
  fs::create_symlink("third", folder_ / "else" / "second");
  ASSERT_TRUE(replace_file(folder_ / "first", "one"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "first"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "else" / "second"));
  EXPECT_EQ(*read_file(folder_ / "else" / "third"), "one");
  fs::create_symlink("loop", folder_ / "loop");
  EXPECT_EQ(replace_file(folder_ / "loop", "x").error().os_errno, ELOOP);
}

TEST_F(FileTest, AsksBeforeTheRename) {
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

TEST_F(FileTest, FailsWithAReason) {
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

TEST_F(FileTest, MovesOverNothing) {
  ASSERT_TRUE(replace_file(folder_ / "a", "one"));
  ASSERT_TRUE(replace_file(folder_ / "b", "two"));
  EXPECT_EQ(move_file(folder_ / "a", folder_ / "b").error().code, Code::conflict);
  EXPECT_EQ(*read_file(folder_ / "b"), "two");
  ASSERT_TRUE(move_file(folder_ / "a", folder_ / "c"));
  EXPECT_EQ(*read_file(folder_ / "c"), "one");
  EXPECT_FALSE(fs::exists(folder_ / "a"));
  EXPECT_EQ(move_file(folder_ / "a", folder_ / "d").error().code, Code::not_found);
}

TEST(TemporaryName, IsTheOneThatUnfinishedFilesHave) {
  const fs::path first = temporary_beside("/a/notes.json");
  EXPECT_EQ(first.parent_path(), "/a");
  EXPECT_NE(first, temporary_beside("/a/notes.json"));
  EXPECT_TRUE(is_temporary_name(first.filename().native()));
  for (const std::string_view other :
       {"notes.json", "notes.tmp", "notes.1.tmp", "notes.1.x.tmp", ".1.2.tmp", "notes..2.tmp"}) {
    EXPECT_FALSE(is_temporary_name(other)) << other;
  }
}

}  // namespace
}  // namespace reprise
