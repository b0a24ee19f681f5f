#include "cli/output/table.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "base/grapheme.h"

namespace reprise::cli {
namespace {

constexpr std::string_view kGap = "  ";

std::string fit(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) {
    return std::string(text);
  }
  return std::string(width_prefix(text, width - 1)) + "…";
}

void append_cell(std::string& line, std::string_view text, std::size_t width, Align align) {
  const std::string cell = fit(text, width);
  const std::string padding(width - std::min(width, display_width(cell)), ' ');
  line += align == Align::right ? padding + cell : cell + padding;
}

std::vector<std::size_t> natural_widths(const std::vector<Column>& columns,
                                        const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::size_t width = display_width(columns[i].heading);
    for (const auto& row : rows) {
      width = std::max(width, display_width(row[i]));
    }
    widths.push_back(width);
  }
  return widths;
}

std::size_t total_width(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), std::size_t{0}) +
         kGap.size() * (widths.size() - 1);
}

}  // namespace

std::string format_table(const std::vector<Column>& columns,
                         const std::vector<std::vector<std::string>>& rows, std::size_t width_max) {
  std::vector<std::size_t> widths = natural_widths(columns, rows);
  if (columns.back().optional && total_width(widths) > width_max) {
    widths.pop_back();
  }
  const std::size_t total = total_width(widths);
  const auto flexible = std::ranges::find(columns, true, &Column::flexible);
  if (total > width_max && flexible != columns.end()) {
    std::size_t& width = widths[static_cast<std::size_t>(flexible - columns.begin())];
    const std::size_t excess = total - width_max;
    width = std::max(width > excess ? width - excess : 0, std::min(width, kFlexibleMin));
  }
  std::string out;
  const auto append_line = [&](const auto& cell_at) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      line += i == 0 ? "" : kGap;
      append_cell(line, cell_at(i), widths[i], columns[i].align);
    }
    line.resize(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  append_line([&](std::size_t i) -> std::string_view { return columns[i].heading; });
  for (const auto& row : rows) {
    append_line([&](std::size_t i) -> std::string_view { return row[i]; });
  }
  return out;
}

}  // namespace reprise::cli
