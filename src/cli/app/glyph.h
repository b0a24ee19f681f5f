#pragma once

// A character in the form that ncurses can display.

#include <array>
#include <cstddef>
#include <string_view>

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

}  // namespace reprise::cli::app
