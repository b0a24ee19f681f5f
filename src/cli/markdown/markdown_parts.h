#pragma once

// Parts of rendering Markdown: tables and coloured code. Pure functions.

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

// Colours code of any language: comments, strings, numbers and common keywords, recognised by a
// heuristic. One Line per line of code, sanitized for terminals, with tabs expanded.
std::vector<Line> coloured_code(std::string_view code, std::string_view language);

}  // namespace reprise::cli::app
