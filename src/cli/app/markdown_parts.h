#pragma once

// What Markdown is shown with: tables in columns, the spans within a paragraph, coloured code.
// Pure.

#include <md4c.h>

#include <cstddef>  // IWYU pragma: export
#include <vector>   // IWYU pragma: export

#include "cli/app/style.h"  // IWYU pragma: export

namespace reprise::cli::app {

enum class Side : std::uint8_t { left, centre, right };

struct Table {
  std::vector<Side> sides;              // where the words of each column stand
  std::vector<std::vector<Line>> rows;  // of cells; the first row is the header
};

// Lines of at most `width` columns; long cells are wrapped. Where the columns have no room beside
// each other, each row becomes a list of its cells behind their headings.
std::vector<Line> table_lines(const Table& table, std::size_t width);

// The look of words in such a span, within others that look like `outside`.
Style style_within(MD_SPANTYPE type, Style outside);

// The character of "&amp;" and its like; what is not known stays as it is written.
std::string_view meaning_of_entity(std::string_view text);

// Colours for code of any language: comments, strings, numbers and the usual keywords. A guess by
// the look of the words, not a parser. One Line for each line of the code, safe for a terminal,
// tabs expanded.
std::vector<Line> coloured_code(std::string_view code, std::string_view language);

}  // namespace reprise::cli::app
