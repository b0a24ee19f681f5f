#pragma once

// The numbered menu of `resume`: its text and the parsing of answers. Pure functions.

#include <span>

#include "reprise/session.h"

namespace reprise::cli {

inline constexpr std::string_view kMenuQuestion = "Enter number to resume, or 'q' to cancel: ";
inline constexpr std::string_view kMenuHeading = "Recent conversations:";
inline constexpr std::string_view kNothingSaved = "No previous conversations found.";

// kMenuHeading and a line `N. [mode] title  (age)` per session, at most `columns` wide, sanitized
// for terminals, with blank lines around the list.
std::string menu_text(std::span<const SessionInfo> sessions, Time now, std::size_t columns);

struct MenuAnswer {
  enum class Kind : std::uint8_t { number, cancel, invalid } kind = Kind::invalid;
  std::size_t index = 0;  // from 0
};

// A number from 1 to `count` without sign, point or leading zero; "q" cancels.
MenuAnswer parse_menu_answer(std::string_view line, std::size_t count);

}  // namespace reprise::cli
