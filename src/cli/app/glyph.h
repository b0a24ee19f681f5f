#pragma once

// A character as ncurses can show it.

#include <array>
#include <cstddef>
#include <string_view>

namespace reprise::cli::app {

// ncurses takes one code point and the marks on it (CCHARW_MAX of them).
inline constexpr std::size_t kGlyphCharacters = 5;

// The first code point of a character and the marks on it, ended by a null.
// Joined emoji lose what is joined, so that they take the columns that were counted; then it is
// not whole, see joined_rows().
struct Glyph {
  std::array<wchar_t, kGlyphCharacters + 1> characters{};
  std::size_t length = 0;
  int columns = 1;
  bool whole = true;
  int parts = 0;  // code points that have columns of their own
};

// `text` is one character of valid UTF-8 that was counted to take `columns`.
Glyph glyph_of(std::string_view text, int columns);

}  // namespace reprise::cli::app
