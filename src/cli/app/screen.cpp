#include "cli/app/screen.h"

#include <algorithm>
#include <utility>

#include "base/grapheme.h"
#include "base/terminal_text.h"

namespace reprise::cli::app {

Screen::Screen(Size size) : size_(size), cells_(size.rows * size.columns) {}

void Screen::set(Place place, Cell cell) {
  Cell& old = cells_[place.row * size_.columns + place.column];
  // Overwriting half of a wide character blanks the other half.
  if (old.columns == 0 && place.column > 0) {
    Cell& first = cells_[place.row * size_.columns + place.column - 1];
    first.text = " ";
    first.columns = 1;
  }
  if (old.columns == 2 && place.column + 1 < size_.columns) {
    Cell& second = cells_[place.row * size_.columns + place.column + 1];
    second.text = " ";
    second.columns = 1;
  }
  old = std::move(cell);
}

std::size_t Screen::put(Place place, std::string_view text, Style style, std::size_t end) {
  end = std::min(end, size_.columns);
  if (place.row >= size_.rows || place.column >= end) {
    return place.column;
  }
  const std::string safe = terminal_line(text);
  for (std::string_view rest = safe; !rest.empty();) {
    const std::string_view character = rest.substr(0, first_grapheme(rest));
    const std::size_t columns = std::min<std::size_t>(display_width(character), 2);
    rest.remove_prefix(character.size());
    if (columns == 0) {
      continue;  // a combining mark without a base character
    }
    if (place.column + columns > end) {
      break;
    }
    set(place, {std::string(character), static_cast<std::uint8_t>(columns), style});
    if (columns == 2) {
      set({place.row, place.column + 1}, {"", 0, style});
    }
    place.column += columns;
  }
  return place.column;
}

std::size_t Screen::put(Place place, const Line& line, std::size_t end) {
  for (const Span& span : line) {
    place.column = put(place, span.text, span.style, end);
  }
  return place.column;
}

void Screen::fill(Place place, Style style, std::string_view character) {
  for (; place.row < size_.rows && place.column < size_.columns; ++place.column) {
    set(place, {std::string(character), 1, style});
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

}  // namespace reprise::cli::app
