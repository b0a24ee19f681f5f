#pragma once

// A character in the form that ncurses can display, and the characters of several parts (joined
// emoji, flags, skin tones) that it cannot store: it displays their first part, and they are
// written over it afterwards.

#include <array>
#include <map>

#include "cli/app/screen.h"  // IWYU pragma: export

namespace reprise::cli::app {

// ncurses accepts one code point and its combining marks (at most CCHARW_MAX in total).
inline constexpr std::size_t kGlyphCharacters = 5;

// The first code point of a character and its combining marks, null-terminated. For a joined emoji,
// only the first part, so that it has the expected width; then `whole` is false, see joined_rows().
struct Glyph {
  std::array<wchar_t, kGlyphCharacters + 1> characters{};
  std::size_t length = 0;
  int columns = 1;
  bool whole = true;
  int parts = 0;  // code points with columns of their own
};

// `text` is one character of valid UTF-8 with a width of `columns`.
Glyph glyph_of(std::string_view text, int columns);

// For each row with such characters, the ANSI sequences that write them: cursor movements and
// attributes. A terminal that does not join the parts writes too many columns, so the following
// cells are rewritten; where there is no room for that, only the first part is shown.
std::map<std::size_t, std::string> joined_rows(const Screen& screen, bool colours);

}  // namespace reprise::cli::app
