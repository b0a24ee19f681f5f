#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "cli/output/table.h"

namespace reprise::cli {

std::string bar(std::int64_t value, std::int64_t most, std::size_t columns) {
  constexpr auto kParts = std::to_array<std::string_view>({"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"});
  if (value <= 0 || most <= 0) {
    return "";
  }
  const double share = std::min(1.0, static_cast<double>(value) / static_cast<double>(most));
  const auto eighths =
      static_cast<std::size_t>(std::max(1L, std::lround(share * static_cast<double>(8 * columns))));
  std::string out;
  for (std::size_t i = 0; i < eighths / 8; ++i) {
    out += "█";
  }
  return out += kParts[eighths % 8];
}

std::string compact_count(std::int64_t count) {
  constexpr auto kUnits = std::to_array<std::string_view>({"", "k", "M", "G", "T"});
  if (count < 0) {
    return cat("-", compact_count(count == INT64_MIN ? INT64_MAX : -count));
  }
  std::size_t unit = 0;
  std::int64_t scale = 1;
  while (unit + 1 < kUnits.size() && count / scale >= 1000) {
    scale *= 1000;
    ++unit;
  }
  const std::int64_t whole = count / scale;
  const std::int64_t tenth = count % scale * 10 / scale;
  return whole < 10 && unit > 0 ? cat(whole, ".", tenth, kUnits[unit]) : cat(whole, kUnits[unit]);
}

}  // namespace reprise::cli
