#include "cli/program/path_watch.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/testing/temporary_folder.h"

namespace reprise::cli {
namespace {

using std::chrono::milliseconds;

class PathWatchTest : public testing::Test {
 protected:
  // Whether something changes within this time.
  bool changes_within(milliseconds time) {
    std::stop_source stop;
    const std::jthread timer([&](const std::stop_token& is_over) {
      const auto end = std::chrono::steady_clock::now() + time;
      while (!is_over.stop_requested() && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(milliseconds(10));
      }
      stop.request_stop();
    });
    return watch_.wait(milliseconds(0), stop.get_token()).has_value();
  }
  void write(const std::string& name) { ASSERT_TRUE(replace_file(folder() / name, "x")); }
  const std::filesystem::path& folder() const { return folder_.path(); }

  test::TemporaryFolder folder_;
  PathWatch watch_;
};

TEST_F(PathWatchTest, NeighboursOfAFileAreIgnoredUnlessTheirNamesBeginWithItsName) {
  watch_.add({folder() / "logs.db"});
  write("other");
  EXPECT_FALSE(changes_within(milliseconds(300)));
  write("logs.db-wal");
  EXPECT_TRUE(changes_within(std::chrono::seconds(60)));
}

TEST_F(PathWatchTest, AMissingFolderIsWaitedForAtEachStep) {
  const std::filesystem::path path = folder() / "a/b";
  watch_.add({path});
  for (const std::filesystem::path& next : {folder() / "a", path, path / "c"}) {
    std::filesystem::create_directory(next);
    EXPECT_TRUE(changes_within(std::chrono::seconds(60))) << next;
    watch_.add({path});
  }
  std::filesystem::remove_all(folder() / "a");
  EXPECT_TRUE(changes_within(std::chrono::seconds(60)));
  EXPECT_FALSE(watch_.is_polling());
}

TEST_F(PathWatchTest, WithoutInotifyItPolls) {
  // Locals, since a sanitizer needs a descriptor to check the type of *this.
  PathWatch& watch = watch_;
  const std::vector<std::filesystem::path> paths = {folder()};
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  watch.add(paths);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(watch_.is_polling());
  EXPECT_FALSE(changes_within(milliseconds(300)));
  watch_.add({folder()});
  EXPECT_FALSE(watch_.is_polling());
}

}  // namespace
}  // namespace reprise::cli
