#pragma once

// A table of a text in columns. Pure.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cli/app/style.h"

namespace reprise::cli::app {

enum class Side : std::uint8_t { left, centre, right };

struct Table {
  std::vector<Side> sides;              // where the words of each column stand
  std::vector<std::vector<Line>> rows;  // of cells; the first row is the header
};

// Lines of at most `width` columns; long cells are wrapped. Where the columns have no room beside
// each other, each row becomes a list of its cells behind their headings.
std::vector<Line> table_lines(const Table& table, std::size_t width);

}  // namespace reprise::cli::app
