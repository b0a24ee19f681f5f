#include "cli/settings/time_value.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <iterator>
#include <optional>
#include <system_error>

#include "base/text.h"
#include "model/known_time.h"

namespace reprise::cli {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t minutes;
};
constexpr Unit kUnits[] = {{"minute", 1}, {"min", 1},       {"m", 1},         {"hour", 60},
                           {"h", 60},     {"day", 1440},    {"d", 1440},      {"week", 10080},
                           {"w", 10080},  {"month", 43200}, {"year", 525600}, {"y", 525600}};
constexpr std::int64_t kYearsMax = 1000;

// Parses "2 weeks" or "2w".
std::optional<std::chrono::minutes> parse_age(std::string_view text) {
  std::int64_t count = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || count < 0) {
    return std::nullopt;
  }
  std::string_view unit = trimmed(text.substr(static_cast<std::size_t>(stopped - text.data())));
  if (unit.ends_with("ago")) {
    unit = trimmed(unit.substr(0, unit.size() - 3));
  }
  if (unit.size() > 1 && unit.ends_with('s')) {
    unit.remove_suffix(1);
  }
  const auto* const found = std::ranges::find(kUnits, unit, &Unit::name);
  if (found == std::end(kUnits) || count > kYearsMax * 525600 / found->minutes) {
    return std::nullopt;
  }
  return std::chrono::minutes(count * found->minutes);
}

// In local time, `days` after the day of `time`.
Time begin_of_day(std::tm day, int days) {
  day.tm_mday += days;
  day.tm_hour = day.tm_min = day.tm_sec = 0;
  day.tm_isdst = -1;
  return std::chrono::time_point_cast<std::chrono::microseconds>(
      std::chrono::system_clock::from_time_t(std::mktime(&day)));
}

std::optional<std::tm> parse_date(std::string_view text, Time now) {
  std::tm day{};
  if (text == "today" || text == "yesterday") {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
    if (localtime_r(&seconds, &day) == nullptr) {
      return std::nullopt;
    }
    day.tm_mday -= text == "yesterday" ? 1 : 0;
    return day;
  }
  if (text.size() != 10 || !parse_time(cat(text, "T00:00:00Z"))) {
    return std::nullopt;
  }
  const auto number = [&text](std::size_t at, std::size_t size) {
    return std::stoi(std::string(text.substr(at, size)));
  };
  day.tm_year = number(0, 4) - 1900;
  day.tm_mon = number(5, 2) - 1;
  day.tm_mday = number(8, 2);
  return day;
}

}  // namespace

std::optional<Time> parse_time_value(std::string_view text, Time now, DayEnd day) {
  text = trimmed(text);
  if (const auto age = parse_age(text)) {
    return now - *age;
  }
  if (const auto date = parse_date(text, now)) {
    return begin_of_day(*date, day == DayEnd::end ? 1 : 0);
  }
  const bool is_number = std::ranges::all_of(text, is_ascii_digit);
  return is_number ? std::nullopt : parse_time(text);
}

Result<std::optional<Time>> parse_time_flag(std::string_view flag,
                                            const std::optional<std::string>& value, Time now,
                                            DayEnd day) {
  if (!value) {
    return std::optional<Time>();
  }
  const auto time = parse_time_value(*value, now, day);
  if (!time) {
    return fail(
        Code::invalid_argument,
        cat(flag, " '", *value, "' is not a time: write '2 weeks', '3 days' or 2026-11-23"));
  }
  return time;
}

std::optional<std::chrono::hours> parse_duration(std::string_view text) {
  constexpr std::int64_t kDay = 24;
  constexpr std::int64_t kHoursMax = kDay * 366 * 1000;
  if (text.empty()) {
    return std::nullopt;
  }
  std::int64_t unit = 0;
  switch (text.back()) {
    case 'h':
      unit = 1;
      break;
    case 'd':
      unit = kDay;
      break;
    case 'w':
      unit = 7 * kDay;
      break;
    default:
      return std::nullopt;
  }
  const auto count = parse_number<std::int64_t>(text.substr(0, text.size() - 1));
  if (!count || *count < 0 || *count > kHoursMax / unit) {
    return std::nullopt;
  }
  return std::chrono::hours(*count * unit);
}

std::string age_text(Time then, Time now) {
  if (!is_known(then)) {
    return "-";
  }
  using std::chrono::floor;
  const auto age = now - then;
  if (age < std::chrono::minutes(1)) {
    return "just now";
  }
  if (age < std::chrono::hours(1)) {
    return cat(floor<std::chrono::minutes>(age).count(), " min ago");
  }
  const auto hours = floor<std::chrono::hours>(age).count();
  if (hours < 24) {
    return hours == 1 ? "1 hour ago" : cat(hours, " hours ago");
  }
  const auto days = hours / 24;
  if (days < 7) {
    return days == 1 ? "yesterday" : cat(days, " days ago");
  }
  return format_time(then).substr(0, 10);
}

}  // namespace reprise::cli
