#include "cli/app/screen.h"

#include <wchar.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "base/terminal_text.h"
#include "base/text.h"
#include "base/utf8.h"

namespace reprise::cli::app {
namespace {

constexpr std::size_t kJoinedBytesMax = 64;  // longer than any emoji

void go_to(std::string& out, ScreenPosition position) {
  out += cat("\x1b[", position.row + 1, ";", position.column + 1, "H");
}

void set_style(std::string& out, const Style& style, bool colours) {
  out += "\x1b[0";
  out += style.bold ? ";1" : "";
  out += style.dim ? ";2" : "";
  out += style.italic ? ";3" : "";
  out += style.underline ? ";4" : "";
  out += style.reverse ? ";7" : "";
  if (colours && style.colour != Colour::standard) {
    out += cat(";3", static_cast<int>(style.colour));
  }
  out += "m";
}

// A cell in the form that ncurses displays.
void put_plain(std::string& out, const Screen& screen, ScreenPosition position, bool colours) {
  const Cell& cell = screen.at(position);
  go_to(out, position);
  set_style(out, cell.style, colours);
  const Glyph glyph = glyph_of(cell.text, cell.columns);
  for (std::size_t i = 0; i < glyph.length; ++i) {
    utf8::append(out, static_cast<char32_t>(glyph.characters.at(i)));
  }
}

std::string joined_in(const Screen& screen, std::size_t row, bool colours) {
  std::string out;
  const std::size_t columns = screen.size().columns;
  for (std::size_t column = 0; column < columns; ++column) {
    const Cell& cell = screen.at({row, column});
    if (cell.text.size() < 2 || cell.text.size() > kJoinedBytesMax) {
      continue;
    }
    const Glyph glyph = glyph_of(cell.text, cell.columns);
    // No terminal uses more than two columns per part.
    const std::size_t end_column = column + (2 * static_cast<std::size_t>(glyph.parts));
    if (glyph.is_complete || end_column > columns) {
      continue;
    }
    go_to(out, {row, column});
    set_style(out, cell.style, colours);
    out += cell.text;
    for (std::size_t covered = column + cell.columns; covered < end_column; ++covered) {
      if (screen.at({row, covered}).columns > 0) {
        put_plain(out, screen, {row, covered}, colours);
      }
    }
  }
  return out;
}

}  // namespace

Screen::Screen(Size size) : size_(size), cells_(size.rows * size.columns) {}

void Screen::set(ScreenPosition position, Cell cell) {
  Cell& old = cells_[position.row * size_.columns + position.column];
  // Overwriting half of a wide character blanks the other half.
  if (old.columns == 0 && position.column > 0) {
    Cell& first = cells_[position.row * size_.columns + position.column - 1];
    first.text = " ";
    first.columns = 1;
  }
  if (old.columns == 2 && position.column + 1 < size_.columns) {
    Cell& second = cells_[position.row * size_.columns + position.column + 1];
    second.text = " ";
    second.columns = 1;
  }
  old = std::move(cell);
}

std::size_t Screen::put(ScreenPosition position, std::string_view text, Style style,
                        std::size_t end) {
  end = std::min(end, size_.columns);
  if (position.row >= size_.rows || position.column >= end) {
    return position.column;
  }
  const std::string safe = terminal_line(text);
  for (std::string_view remaining = safe; !remaining.empty();) {
    const std::string_view character = remaining.substr(0, first_grapheme(remaining));
    const std::size_t columns = std::min<std::size_t>(display_width(character), 2);
    remaining.remove_prefix(character.size());
    if (columns == 0) {
      continue;  // a combining mark without a base character
    }
    if (position.column + columns > end) {
      break;
    }
    set(position, {std::string(character), static_cast<std::uint8_t>(columns), style});
    if (columns == 2) {
      set({position.row, position.column + 1}, {"", 0, style});
    }
    position.column += columns;
  }
  return position.column;
}

std::size_t Screen::put(ScreenPosition position, const Line& line, std::size_t end) {
  for (const Span& span : line) {
    position.column = put(position, span.text, span.style, end);
  }
  return position.column;
}

void Screen::fill(ScreenPosition position, Style style, std::string_view character) {
  for (; position.row < size_.rows && position.column < size_.columns; ++position.column) {
    set(position, {std::string(character), 1, style});
  }
}

std::string Screen::text() const {
  std::string out;
  for (std::size_t row = 0; row < size_.rows; ++row) {
    std::string line;
    for (std::size_t column = 0; column < size_.columns; ++column) {
      line += at({row, column}).text;
    }
    line.resize(line.find_last_not_of(' ') + 1);
    out += line;
    out += '\n';
  }
  return out;
}

Glyph glyph_of(std::string_view text, int columns) {
  constexpr char32_t kJoiner = 0x200D;
  constexpr char32_t kEmojiPresentation = 0xFE0F;
  Glyph glyph;
  bool taking = true;
  while (!text.empty()) {
    const utf8::Decoded next = utf8::decode(text);
    text.remove_prefix(next.bytes);
    const auto character = static_cast<wchar_t>(next.code_point);
    const int width = ::wcwidth(character);
    glyph.parts += width > 0 ? 1 : 0;
    if (glyph.length == 0) {
      glyph.columns = width;
      glyph.characters.at(glyph.length++) = character;
      continue;
    }
    if (next.code_point == kJoiner || next.code_point == kEmojiPresentation || width > 0) {
      glyph.is_complete = false;
      taking = taking && width <= 0;
    } else if (taking && width == 0 && glyph.length < kGlyphCharacters) {
      glyph.characters.at(glyph.length++) = character;
    }
  }
  if (glyph.columns < 1 || glyph.columns > columns) {
    glyph = {};
    glyph.characters[0] = columns == 1 ? L'?' : L'\uFFFD';
    glyph.length = 1;
  }
  return glyph;
}

std::map<std::size_t, std::string> joined_rows(const Screen& screen, bool colours) {
  std::map<std::size_t, std::string> out;
  for (std::size_t row = 0; row < screen.size().rows; ++row) {
    if (std::string joined = joined_in(screen, row, colours); !joined.empty()) {
      out.emplace(row, std::move(joined));
    }
  }
  return out;
}

}  // namespace reprise::cli::app
