#pragma once

// A moment as people name it.

#include "reprise/types.h"

namespace reprise::cli {

// Which end of a day a date means.
enum class DayEnd : unsigned char { begin, end };

// "2 weeks", "3 days ago", "12h", "today", "yesterday", a date where the person is ("2026-11-23"),
// or a time as parse_time() takes it, but for a bare number. Units are minutes, hours, days, weeks,
// months of 30 days and years of 365, or their first letters (m is minutes). nullopt for all else.
std::optional<Time> parse_moment(std::string_view text, Time now, DayEnd day);

// The value of `flag`, when it was given. invalid_argument when it is no moment.
Result<std::optional<Time>> parse_moment_flag(std::string_view flag,
                                              const std::optional<std::string>& value, Time now,
                                              DayEnd day);

// "30d", "12h", "2w". nullopt for anything else, and for more than 1,000 years.
std::optional<std::chrono::hours> parse_duration(std::string_view text);

}  // namespace reprise::cli
