#pragma once

// Points in time as users write them.

#include "reprise/types.h"

namespace reprise::cli {

// Which end of the day a date refers to.
enum class DayEnd : unsigned char { begin, end };

// "2 weeks", "3 days ago", "12h", "today", "yesterday", a local date ("2026-11-23"), or a time as
// for parse_time() except for bare numbers. Units are minutes, hours, days, weeks, months of 30
// days and years of 365, or their first letters (m is minutes). Otherwise nullopt.
std::optional<Time> parse_time_value(std::string_view text, Time now, DayEnd day);

// The value of `flag`, if given. invalid_argument if it cannot be parsed.
Result<std::optional<Time>> parse_time_flag(std::string_view flag,
                                            const std::optional<std::string>& value, Time now,
                                            DayEnd day);

// "30d", "12h", "2w". nullopt for anything else, and for more than 1,000 years.
std::optional<std::chrono::hours> parse_duration(std::string_view text);

}  // namespace reprise::cli
