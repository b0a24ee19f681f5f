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

constexpr std::size_t kDayBytes = 10;     // "2026-11-23"
constexpr std::size_t kMinuteBytes = 16;  // "2026-11-23T10:00"
constexpr std::size_t kSecondBytes = 19;  // "2026-11-23T10:00:00"

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

Time local_to_time(std::tm local) {
  local.tm_isdst = -1;
  return std::chrono::time_point_cast<std::chrono::microseconds>(
      std::chrono::system_clock::from_time_t(std::mktime(&local)));
}

// In local time, `days` after the day of `time`.
Time begin_of_day(std::tm day, int days) {
  day.tm_mday += days;
  day.tm_hour = day.tm_min = day.tm_sec = 0;
  return local_to_time(day);
}

// "2026-11-23T10:00:00" in local time; a blank may replace the T.
std::optional<std::tm> parse_local(std::string_view text) {
  if (text.size() != kSecondBytes || !parse_time(cat(text, "Z"))) {
    return std::nullopt;
  }
  const auto number = [&text](std::size_t at, std::size_t size) {
    return std::stoi(std::string(text.substr(at, size)));
  };
  std::tm local{};
  local.tm_year = number(0, 4) - 1900;
  local.tm_mon = number(5, 2) - 1;
  local.tm_mday = number(8, 2);
  local.tm_hour = number(11, 2);
  local.tm_min = number(14, 2);
  local.tm_sec = number(17, 2);
  return local;
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
  return text.size() == kDayBytes ? parse_local(cat(text, "T00:00:00")) : std::nullopt;
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
  if (const auto local =
          parse_local(text.size() == kMinuteBytes ? cat(text, ":00") : std::string(text))) {
    return local_to_time(*local);
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
    return fail(Code::invalid_argument,
                cat(flag, " '", *value,
                    "' is not a time: write '2 weeks', 3d, 2026-11-23 or '2026-11-23 10:00'"));
  }
  return time;
}

std::optional<std::chrono::hours> parse_duration(std::string_view text) {
  constexpr std::int64_t kMinutesPerHour = 60;
  const auto age = parse_age(trimmed(text));
  return age && age->count() % kMinutesPerHour == 0
             ? std::optional(std::chrono::duration_cast<std::chrono::hours>(*age))
             : std::nullopt;
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
