#pragma once

// The content of a terminal as a value: a grid of cells and the cursor's position.
//  (1) Text is sanitized when it is put: cells never contain control characters or bidi overrides.
//  (2) A character is stored whole or not at all; a wide one occupies its own and the next cell.

#include <array>
#include <cstddef>  // IWYU pragma: export
#include <map>
#include <optional>
#include <string>       // IWYU pragma: export
#include <string_view>  // IWYU pragma: export
#include <vector>       // IWYU pragma: export

#include "cli/markdown/style.h"  // IWYU pragma: export

namespace reprise::cli::app {

struct Size {
  std::size_t rows = 24;
  std::size_t columns = 80;
  friend bool operator==(const Size&, const Size&) = default;
};

struct Cell {
  std::string text = " ";    // one character; "" for the second column of a wide one
  std::uint8_t columns = 1;  // 0 for the second column of a wide one
  Style style = {};
  friend bool operator==(const Cell&, const Cell&) = default;
};

struct ScreenPosition {
  std::size_t row = 0;
  std::size_t column = 0;
  friend bool operator==(const ScreenPosition&, const ScreenPosition&) = default;
};

class Screen {
 public:
  explicit Screen(Size size);

  Size size() const { return size_; }
  const Cell& at(ScreenPosition position) const {
    return cells_[position.row * size_.columns + position.column];
  }

  // Writes as much of the text as fits between `position` and column `end` (at most the whole row).
  // Returns the next column. Text outside the screen is ignored.
  std::size_t put(ScreenPosition position, std::string_view text, Style style, std::size_t end);
  std::size_t put(ScreenPosition position, std::string_view text, Style style) {
    return put(position, text, style, size_.columns);
  }
  std::size_t put(ScreenPosition position, const Line& line) {
    return put(position, line, size_.columns);
  }
  std::size_t put(ScreenPosition position, const Line& line, std::size_t end);
  // Fills the rest of the row with blanks (or another character of one column).
  void fill(ScreenPosition position, Style style, std::string_view character = " ");

  void set_cursor(ScreenPosition position) { cursor_ = position; }
  std::optional<ScreenPosition> cursor() const { return cursor_; }

  // For tests: the rows without trailing blanks.
  std::string text() const;

 private:
  void set(ScreenPosition position, Cell cell);

  Size size_;
  std::vector<Cell> cells_;
  std::optional<ScreenPosition> cursor_;
};

// ---- A character in the form that ncurses can display, and the characters of several parts
// (joined emoji, flags, skin tones) that it cannot store: it displays their first part, and they
// are written over it afterwards.

// ncurses accepts one code point and its combining marks (at most CCHARW_MAX in total).
inline constexpr std::size_t kGlyphCharacters = 5;

// The first code point of a character and its combining marks, null-terminated. For a joined emoji,
// only the first part, so that it has the expected width; then `is_complete` is false, see
// joined_rows().
struct Glyph {
  std::array<wchar_t, kGlyphCharacters + 1> characters{};
  std::size_t length = 0;
  int columns = 1;
  bool is_complete = true;
  int parts = 0;  // code points with columns of their own
};

// `text` is one character of valid UTF-8 with a width of `columns`.
Glyph glyph_of(std::string_view text, int columns);

// For each row with such characters, the ANSI sequences that write them: cursor movements and
// attributes. A terminal that does not join the parts writes too many columns, so the following
// cells are rewritten; where there is no room for that, only the first part is shown.
std::map<std::size_t, std::string> joined_rows(const Screen& screen, bool colours);

}  // namespace reprise::cli::app
