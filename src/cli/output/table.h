#pragma once

// A table for people: columns as wide as their widest cell, measured as a terminal shows them; the
// one flexible column gives way when the lines would be too long.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace reprise::cli {

enum class Align : std::uint8_t { left, right };

struct Column {
  std::string heading;
  Align align = Align::left;
  bool flexible = false;  // cut with "…" when there is no room; at least kFlexibleMin columns stay
  bool optional = false;  // the last one: left out before anything is cut
};

inline constexpr std::size_t kFlexibleMin = 10;

// `cells` have passed the terminal gate. Each line ends in a line end, without blanks before it.
std::string format_table(const std::vector<Column>& columns,
                         const std::vector<std::vector<std::string>>& rows, std::size_t width_max);

// Bars behind the lines of a table.

// Of `value` in a chart whose longest bar, of `columns`, is `most`. In eighths of a column; "" for
// nothing, and at least the thinnest for anything else.
std::string bar(std::int64_t value, std::int64_t most, std::size_t columns);

// "0", "999", "1.2k", "12k", "1.2M", "34M": at most four characters, five for more than 999G.
std::string compact_count(std::int64_t count);

}  // namespace reprise::cli
