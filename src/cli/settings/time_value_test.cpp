#include "cli/settings/time_value.h"

#include <gtest/gtest.h>

namespace reprise::cli {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Time kNow{std::chrono::seconds(1'768'766'400)};  // 2026-01-18 20:00:00

TEST(TimeValue, Ages) {
  const auto age = [](std::string_view text) {
    const auto time = parse_time_value(text, kNow, DayEnd::begin);
    return time ? std::optional(std::chrono::floor<std::chrono::minutes>(kNow - *time).count())
                : std::nullopt;
  };
  EXPECT_EQ(age("2 weeks"), 2 * 7 * 24 * 60);
  EXPECT_EQ(age("2w"), 2 * 7 * 24 * 60);
  EXPECT_EQ(age("1 day ago"), 24 * 60);
  EXPECT_EQ(age(" 90 min "), 90);
  EXPECT_EQ(age("12h"), 12 * 60);
  for (const std::string_view bad :
       {"", "weeks", "2", "-2 weeks", "2 fortnights", "99999999999 days", "2 weeks later",
        "9999999999999999999999d"}) {
    EXPECT_EQ(age(bad), std::nullopt) << bad;
  }
}

TEST(TimeValue, DatesAreWholeDays) {
  const auto begin = parse_time_value("2026-01-18", kNow, DayEnd::begin);
  const auto end = parse_time_value("2026-01-18", kNow, DayEnd::end);
  ASSERT_TRUE(begin && end);
  EXPECT_EQ(*end - *begin, hours(24));
  EXPECT_LE(*begin - kNow, hours(24));
  EXPECT_EQ(parse_time_value("2026-02-30", kNow, DayEnd::begin), std::nullopt);
  EXPECT_EQ(*parse_time_value("today", kNow, DayEnd::begin) -
                *parse_time_value("yesterday", kNow, DayEnd::begin),
            hours(24));
  EXPECT_EQ(parse_time_value("2026-01-18T20:00:00Z", kNow, DayEnd::end), kNow);
}

TEST(TimeValue, TimesWithoutAZoneAreLocal) {
  const auto day = parse_time_value("2026-01-18", kNow, DayEnd::begin);
  ASSERT_TRUE(day);
  for (const std::string_view text :
       {"2026-01-18T10:05", "2026-01-18 10:05", "2026-01-18 10:05:00", "2026-01-18T10:05:00"}) {
    EXPECT_EQ(parse_time_value(text, kNow, DayEnd::end), *day + hours(10) + minutes(5)) << text;
  }
  for (const std::string_view bad : {"2026-01-18 24:00", "2026-01-18 1:005", "2026-01-18T10:0x"}) {
    EXPECT_EQ(parse_time_value(bad, kNow, DayEnd::begin), std::nullopt) << bad;
  }
}

TEST(Duration, ParsesHoursDaysAndWeeks) {
  EXPECT_EQ(parse_duration("12h"), hours(12));
  EXPECT_EQ(parse_duration("30d"), hours(720));
  EXPECT_EQ(parse_duration("2w"), hours(336));
  EXPECT_EQ(parse_duration("0d"), hours(0));
  EXPECT_EQ(parse_duration("3 days"), hours(72));
}

TEST(Duration, RejectsEverythingElse) {
  for (const char* const text :
       {"", "d", "30", "-1d", "1.5d", "30m", "99999999999999d", "99999999999999999999999d"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

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
