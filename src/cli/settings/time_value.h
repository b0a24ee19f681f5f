#pragma once

// Points in time as users write and read them.

#include "reprise/types.h"  // IWYU pragma: export

namespace reprise::cli {

// Which end of the day a date refers to.
enum class DayEnd : unsigned char { begin, end };

// "2 weeks", "3 days ago", "12h", "today", "yesterday", a local date ("2026-11-23") or time
// ("2026-11-23 10:00", "2026-11-23T10:00:00"), or a time as for parse_time() except for bare
// numbers. Units are minutes, hours, days, weeks, months of 30 days and years of 365, or their
// first letters (m is minutes). Otherwise nullopt.
std::optional<Time> parse_time_value(std::string_view text, Time now, DayEnd day);

// The value of `flag`, if given. invalid_argument if it cannot be parsed.
Result<std::optional<Time>> parse_time_flag(std::string_view flag,
                                            const std::optional<std::string>& value, Time now,
                                            DayEnd day);

// An age as above in full hours: "30d", "12h", "2 weeks". nullopt for anything else, and for more
// than 1,000 years.
std::optional<std::chrono::hours> parse_duration(std::string_view text);

// An age in words: "just now" (under a minute, or in the future), "5 min ago", "1 hour ago", "3
// hours ago", "yesterday" (24 to 48 hours), "2 days ago" to "6 days ago", then the date,
// "2026-01-18"; "-" if the time is unknown.
std::string age_text(Time then, Time now);

}  // namespace reprise::cli
