#pragma once

// A table as text: columns are as wide as their widest cell; if the lines are too long for the
// terminal, the one flexible column is shortened.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::cli {

enum class Alignment : std::uint8_t { left, right };

struct Column {
  std::string heading;
  Alignment align = Alignment::left;
  bool flexible = false;  // cut with "…" if there is no room; at least kFlexibleMin columns remain
  bool optional = false;  // dropped before anything is cut
  std::size_t width_max = std::numeric_limits<std::size_t>::max();  // on any terminal
};

inline constexpr std::size_t kFlexibleMin = 10;

// Cut with "…" to this width.
std::string fit_text(std::string_view text, std::size_t width_max);

// The beginning of any text, on one line, cut with "…" to this number of characters.
std::string excerpt(std::string_view text, std::size_t characters_max);

// `cells` must be sanitized for terminals. Lines have no trailing blanks.
std::string format_table(const std::vector<Column>& columns,
                         const std::vector<std::vector<std::string>>& rows, std::size_t width_max);

// Bars after the lines of a table.

// The bar for `value` if the longest bar, of `columns`, is for `most`. Has a resolution of an
// eighth of a column; "" for 0, otherwise at least the thinnest.
std::string bar(std::int64_t value, std::int64_t most, std::size_t columns);

// "0", "999", "1.2k", "12k", "1.2M", "34M": at most four characters, five above 999G.
std::string compact_count(std::int64_t count);

}  // namespace reprise::cli
