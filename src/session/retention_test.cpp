#include "session/retention.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <system_error>

#include "base/file.h"
#include "reprise/types.h"

namespace reprise {
namespace {

using std::chrono::hours;

constexpr hours kAge{24 * 30};
constexpr hours kDay{24};

Moment at(hours time, hours uptime, std::string boot = "boot") {
  return {Time{std::chrono::hours(490'000) + time}, std::move(boot),
          std::chrono::seconds(uptime).count()};
}

class Believing : public testing::Test {
 protected:
  Believing() {
    std::string name = testing::TempDir() + "retention.XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~Believing() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  bool believes(const Moment& now) { return is_believable(folder_ / "state", now, kAge); }

  std::filesystem::path folder_;
};

TEST_F(Believing, TimeThatPassesAsTheMachineCountsIt) {
  EXPECT_TRUE(believes(at(hours(0), hours(0))));
  EXPECT_TRUE(believes(at(40 * kDay, 40 * kDay)));
  EXPECT_TRUE(believes(at(41 * kDay, hours(1), "restarted")));
}

TEST_F(Believing, NoLeapUntilAsMuchTimeHasPassed) {
  EXPECT_TRUE(believes(at(hours(0), hours(0))));
  const hours leap = 4000 * kDay;
  EXPECT_FALSE(believes(at(leap, hours(1))));
  EXPECT_FALSE(believes(at(leap + 29 * kDay, hours(1) + 29 * kDay)));
  EXPECT_TRUE(believes(at(leap + 31 * kDay, hours(1) + 31 * kDay)));
}

TEST_F(Believing, NoClockThatIsPutBack) {
  EXPECT_TRUE(believes(at(100 * kDay, 100 * kDay)));
  EXPECT_FALSE(believes(at(60 * kDay, 100 * kDay)));
  EXPECT_FALSE(believes(at(100 * kDay, 100 * kDay)));
}

TEST_F(Believing, NoClockThatRunsTooFast) {
  bool all = true;
  for (int day = 0; day < 60; ++day) {
    all = believes(at(day * kDay, day * kDay / 100)) && all;
  }
  EXPECT_FALSE(all);
  EXPECT_FALSE(believes(at(61 * kDay, 61 * kDay / 100)));
}

TEST_F(Believing, NoLongAbsenceOfWhichTheMachineKnowsNothing) {
  EXPECT_TRUE(believes(at(hours(0), hours(0))));
  EXPECT_FALSE(believes(at(31 * kDay, hours(0), "restarted")));
}

TEST_F(Believing, WhatCannotBeReadRemembersNothing) {
  ASSERT_TRUE(make_private_folders(folder_ / "state"));
  ASSERT_TRUE(replace_file(folder_ / "state" / "clock.json", "{\"time\":\"some day"));
  EXPECT_TRUE(believes(at(hours(0), hours(0))));
  EXPECT_FALSE(believes(at(4000 * kDay, hours(0))));
}

}  // namespace
}  // namespace reprise
