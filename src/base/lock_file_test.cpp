#include "base/lock_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/testing/temporary_folder.h"
#include "reprise/error.h"

namespace reprise {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class LockFileTest : public testing::Test {
 protected:
  LockFileTest() { path_ = folder_ / "lock"; }

  std::unique_ptr<LockFile> open() { return *LockFile::open(path_); }
  static LockFile::Deadline in(int ms) { return steady_clock::now() + milliseconds(ms); }

  const test::TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path();
  std::filesystem::path path_;
};

TEST_F(LockFileTest, IsPrivate) {
  const auto file = open();
  struct stat status{};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(LockFileTest, RejectsLinksAndFolders) {
  std::filesystem::create_symlink("elsewhere", path_);
  EXPECT_FALSE(LockFile::open(path_));
  EXPECT_FALSE(std::filesystem::exists(path_));
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_FALSE(LockFile::open(path_));
}

TEST_F(LockFileTest, ReportsWhetherItIsHeld) {
  EXPECT_FALSE(*LockFile::is_held(path_)) << "there is none";
  const auto file = open();
  EXPECT_FALSE(*LockFile::is_held(path_));
  {
    const auto hold = file->acquire(in(0));
    ASSERT_TRUE(hold);
    EXPECT_TRUE(*LockFile::is_held(path_));
  }
  EXPECT_FALSE(*LockFile::is_held(path_));
}

TEST_F(LockFileTest, KnowsTheThreadThatHoldsIt) {
  const auto file = open();
  EXPECT_FALSE(file->is_held_by_this_thread());
  {
    const auto hold = file->acquire(in(0));
    ASSERT_TRUE(hold);
    EXPECT_TRUE(file->is_held_by_this_thread());
    bool elsewhere = true;
    std::thread([&] { elsewhere = file->is_held_by_this_thread(); }).join();
    EXPECT_FALSE(elsewhere);
  }
  EXPECT_FALSE(file->is_held_by_this_thread());
}

TEST_F(LockFileTest, ExcludesOtherObjectsUntilReleased) {
  const auto file = open();
  const auto other = open();
  {
    const auto hold = file->acquire(in(0));
    ASSERT_TRUE(hold);
    const auto refused = other->acquire(in(20));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::busy);
    EXPECT_NE(refused.error().message.find("process " + std::to_string(::getpid())),
              std::string::npos);
    EXPECT_FALSE(file->acquire(in(20)));
  }
  EXPECT_TRUE(other->acquire(in(0)));
  EXPECT_TRUE(file->acquire(in(0)));
}

TEST_F(LockFileTest, ExcludesOthersAfterItWasRemoved) {
  const auto file = open();
  EXPECT_TRUE(file->acquire(in(0)));
  std::filesystem::remove(path_);
  const auto other = open();
  {
    const auto hold = other->acquire(in(0));
    ASSERT_TRUE(hold);
    EXPECT_FALSE(file->acquire(in(20)));
  }
  EXPECT_TRUE(file->acquire(in(0)));
  std::filesystem::remove(path_);
  EXPECT_TRUE(file->acquire(in(0)));
  EXPECT_TRUE(std::filesystem::exists(path_));
  std::filesystem::remove(path_);
  std::filesystem::create_symlink("elsewhere", path_);
  EXPECT_FALSE(file->acquire(in(0)));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(LockFileTest, ExcludesOtherThreads) {
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::atomic<int> turns{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        const auto file = open();
        for (int i = 0; i < 20; ++i) {
          const auto hold = file->acquire(in(60'000));
          most = std::max(most.load(), ++inside);
          turns += hold ? 1 : 0;
          --inside;
        }
      });
    }
  }
  EXPECT_EQ(turns, 80);
  EXPECT_EQ(most, 1);
}

// Without the gate, the thread in the tight loop would always win.
TEST_F(LockFileTest, QueuesFairly) {
  const auto greedy = open();
  const auto patient = open();
  std::atomic<bool> stop{false};
  const std::jthread loop([&] {
    while (!stop) {
      const auto hold = greedy->acquire(in(60'000));
      std::this_thread::sleep_for(milliseconds(1));
    }
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(patient->acquire(in(10'000))) << i;
  }
  stop = true;
}

}  // namespace
}  // namespace reprise
