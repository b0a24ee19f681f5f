#include "base/folder.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/testing/temporary_folder.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

TEST(GoneFolder, DoesNotExistWhileItsParentDoes) {
  const test::TemporaryFolder folder;
  const fs::path base = folder.path();
  EXPECT_FALSE(is_gone_folder(base));
  EXPECT_TRUE(is_gone_folder(base / "app"));
  EXPECT_TRUE(is_gone_folder(base / "app/"));
  EXPECT_TRUE(is_gone_folder(base / "x/../app"));
  EXPECT_FALSE(is_gone_folder(base / "disk/app")) << "the disk may come back";
  std::ofstream(base / "file") << "x";
  EXPECT_FALSE(is_gone_folder(base / "file"));
  EXPECT_FALSE(is_gone_folder(base / "file/app")) << "something else is in its parent's place";
  fs::create_symlink(base / "disk", base / "link");
  EXPECT_FALSE(is_gone_folder(base / "link")) << "a link to a disk that is not there";
  fs::create_symlink(base, base / "here");
  EXPECT_TRUE(is_gone_folder(base / "here/app"));
}

TEST(GoneFolder, IsAnAbsolutePathWithItsOwnName) {
  EXPECT_FALSE(is_gone_folder(""));
  EXPECT_FALSE(is_gone_folder("/"));
  EXPECT_FALSE(is_gone_folder("no-such-folder"));
  const test::TemporaryFolder folder;
  EXPECT_FALSE(is_gone_folder(folder.path() / "caf\xEF\xBF\xBD")) << "a replaced byte";
}

}  // namespace
}  // namespace reprise
