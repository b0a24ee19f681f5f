#include "base/reserve.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/file.h"
#include "base/testing/temporary_folder.h"

namespace reprise {
namespace {

class ReserveTest : public ::testing::Test {
 protected:
  ReserveTest() {
    EXPECT_TRUE(replace_file(file(), "one"));
    allocate_reserve(file());
  }
  std::filesystem::path file() const { return folder_ / "lock"; }
  long kilobytes() const {
    struct stat status{};
    ::stat(file().c_str(), &status);
    return status.st_blocks / 2;
  }

 private:
  const test::TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path();
};

Result<> full_disk() {
  return fail(Code::io, "no room", ENOSPC);
}

TEST_F(ReserveTest, IsBeyondTheEndOfTheFile) {
  EXPECT_GE(kilobytes(), 256);
  EXPECT_EQ(*read_file(file()), "one");
  allocate_reserve(file());
  EXPECT_LT(kilobytes(), 300);
}

TEST_F(ReserveTest, IsReleasedWhenTheDiskIsFull) {
  int calls = 0;
  const auto done = with_reserve(file(), [&]() -> Result<> {
    ++calls;
    return kilobytes() < 256 ? Result<>() : full_disk();
  });
  EXPECT_TRUE(done.has_value());
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(*read_file(file()), "one");
}

TEST_F(ReserveTest, IsReleasedOnce) {
  int calls = 0;
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(with_reserve(file(), [&] {
      ++calls;
      return full_disk();
    }));
  }
  EXPECT_EQ(calls, 3);
}

TEST_F(ReserveTest, RemainsAfterOtherFailures) {
  EXPECT_FALSE(with_reserve(file(), []() -> Result<> { return fail(Code::busy, "not now"); }));
  EXPECT_GE(kilobytes(), 256);
}

TEST(Reserve, MissingReserveIsNotAnError) {
  allocate_reserve("/nowhere/lock");
  EXPECT_EQ(with_reserve("/nowhere/lock", full_disk).error().os_errno, ENOSPC);
}

}  // namespace
}  // namespace reprise
