#pragma once

// Parts of rendering Markdown: tables, spans within a paragraph, coloured code. Pure functions.

#include <md4c.h>

#include <cstddef>  // IWYU pragma: export
#include <vector>   // IWYU pragma: export

#include "cli/markdown/style.h"  // IWYU pragma: export

namespace reprise::cli::app {

enum class Side : std::uint8_t { left, centre, right };

struct Table {
  std::vector<Side> sides;              // the alignment of each column
  std::vector<std::vector<Line>> rows;  // of cells; the first row is the header
};

// Lines of at most `width` columns; long cells are wrapped. If the columns do not fit, each row
// becomes a list of its cells with their headings.
std::vector<Line> table_lines(const Table& table, std::size_t width);

// The style of text in such a span, within text of style `outside`.
Style style_within(MD_SPANTYPE type, Style outside);

// The character of an entity such as "&amp;"; an unknown entity is returned unchanged.
std::string_view meaning_of_entity(std::string_view text);

// Colours code of any language: comments, strings, numbers and common keywords, recognised by a
// heuristic. One Line per line of code, sanitized for terminals, with tabs expanded.
std::vector<Line> coloured_code(std::string_view code, std::string_view language);

}  // namespace reprise::cli::app
