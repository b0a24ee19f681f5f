#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "cli/settings/time_value.h"

namespace reprise::cli {
namespace {

using std::chrono::hours;

TEST(Duration, ParsesHoursDaysAndWeeks) {
  EXPECT_EQ(parse_duration("12h"), hours(12));
  EXPECT_EQ(parse_duration("30d"), hours(720));
  EXPECT_EQ(parse_duration("2w"), hours(336));
  EXPECT_EQ(parse_duration("0d"), hours(0));
}

TEST(Duration, RejectsEverythingElse) {
  for (const char* const text : {"", "d", "30", "-1d", "1.5d", "30 d", "30days", "99999999999999d",
                                 "99999999999999999999999d"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace reprise::cli
