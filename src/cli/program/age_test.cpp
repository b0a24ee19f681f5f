#include "cli/program/age.h"

#include <gtest/gtest.h>

namespace reprise::cli {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(Age, UsesRelativeTimes) {
  const Time now = *parse_time("2026-03-10T12:00:00Z");
  EXPECT_EQ(age_text(now + hours(5), now), "just now");
  EXPECT_EQ(age_text(now - seconds(59), now), "just now");
  EXPECT_EQ(age_text(now - seconds(60), now), "1 min ago");
  EXPECT_EQ(age_text(now - seconds(3599), now), "59 min ago");
  EXPECT_EQ(age_text(now - hours(1), now), "1 hour ago");
  EXPECT_EQ(age_text(now - minutes(119), now), "1 hour ago");
  EXPECT_EQ(age_text(now - hours(2), now), "2 hours ago");
  EXPECT_EQ(age_text(now - hours(24) + seconds(1), now), "23 hours ago");
  EXPECT_EQ(age_text(now - hours(24), now), "yesterday");
  EXPECT_EQ(age_text(now - hours(48) + seconds(1), now), "yesterday");
  EXPECT_EQ(age_text(now - hours(48), now), "2 days ago");
  EXPECT_EQ(age_text(now - days(7) + seconds(1), now), "6 days ago");
  EXPECT_EQ(age_text(now - days(7), now), "2026-03-03");
  EXPECT_EQ(age_text(Time{}, now), "-") << "not known";
}

}  // namespace
}  // namespace reprise::cli
