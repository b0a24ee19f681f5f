#include "cli/app/glyph.h"

#include <wchar.h>

#include <utility>

#include "base/text.h"
#include "base/utf8.h"

namespace reprise::cli::app {
namespace {

constexpr std::size_t kJoinedBytesMax = 64;  // longer than any emoji

void go_to(std::string& out, Place place) {
  out += cat("\x1b[", place.row + 1, ";", place.column + 1, "H");
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
void put_plain(std::string& out, const Screen& screen, Place place, bool colours) {
  const Cell& cell = screen.at(place);
  go_to(out, place);
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
    const std::size_t reach = column + (2 * static_cast<std::size_t>(glyph.parts));
    if (glyph.whole || reach > columns) {
      continue;
    }
    go_to(out, {row, column});
    set_style(out, cell.style, colours);
    out += cell.text;
    for (std::size_t behind = column + cell.columns; behind < reach; ++behind) {
      if (screen.at({row, behind}).columns > 0) {
        put_plain(out, screen, {row, behind}, colours);
      }
    }
  }
  return out;
}

}  // namespace

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
      glyph.whole = false;
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
