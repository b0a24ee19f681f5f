#include "base/place.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/temporary_folder.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

class PlaceTest : public testing::Test {
 protected:
  PlaceTest() {
    fs::create_directories(root_ / "disk" / "app" / "src");
    fs::create_directory(root_ / "other");
    fs::create_directory_symlink(root_ / "disk" / "app", root_ / "link");
    fs::create_directory_symlink(root_ / "disk", root_ / "above");
  }
  std::string at(std::string_view name) const { return (root_ / name).native(); }

  test::TemporaryFolder folder_;
  fs::path root_ = fs::canonical(folder_.path());
};

TEST_F(PlaceTest, LinksLeadToIt) {
  Place place(at("disk/app"));
  EXPECT_TRUE(place.exists());
  for (const char* const spelling : {"disk/app", "link", "above/app", "link/src/.."}) {
    EXPECT_TRUE(place.is_at(at(spelling))) << spelling;
    EXPECT_TRUE(place.is_at(at(spelling))) << "asked again";
  }
  for (const char* const other : {"disk", "disk/app/src", "link/src", "other", "gone"}) {
    EXPECT_FALSE(place.is_at(at(other))) << other;
    EXPECT_FALSE(place.is_at(at(other))) << "asked again";
  }
  EXPECT_FALSE(place.is_at(""));
  EXPECT_FALSE(place.is_at("disk/app"));
}

TEST_F(PlaceTest, WhatIsMissingIsNotLookedInto) {
  Place place(at("disk/app"));
  EXPECT_FALSE(place.is_at(at("gone/a/b")));
  EXPECT_EQ(place.missing_part(at("gone/a/b")), at("gone"));
  EXPECT_EQ(place.missing_part(at("gone/c")), at("gone"));
  EXPECT_EQ(place.missing_part(at("gone")), at("gone"));
  EXPECT_EQ(place.missing_part(at("gonex")), "");
  EXPECT_FALSE(place.is_at(at("gonex")));
  EXPECT_EQ(place.missing_part(at("gonex")), at("gonex"));
  EXPECT_EQ(place.missing_part(at("disk/app")), "");
  fs::create_directory_symlink(root_ / "disk", root_ / "gone");
  EXPECT_FALSE(place.is_at(at("gone/app"))) << "asked once";
}

TEST_F(PlaceTest, AMissingFolderHasOneSpelling) {
  Place place(at("gone"));
  EXPECT_FALSE(place.exists());
  EXPECT_TRUE(place.is_at(at("gone")));
  EXPECT_FALSE(place.is_at(at("disk/../gone")));
  Place relative("disk");
  EXPECT_FALSE(relative.exists());
  EXPECT_TRUE(relative.is_at("disk"));
}

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
