#include "cli/output/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/terminal_text.h"
#include "base/text.h"

namespace reprise::cli {
namespace {

constexpr std::string_view kGap = "  ";

void append_cell(std::string& line, std::string_view text, std::size_t width, Alignment align) {
  const std::string cell = fit_text(text, width);
  const std::string padding(width - std::min(width, display_width(cell)), ' ');
  line += align == Alignment::right ? padding + cell : cell + padding;
}

// A column that is shown.
struct TableColumn {
  std::size_t index;
  std::size_t width;
};

std::vector<TableColumn> measured_columns(const std::vector<Column>& columns,
                                          const std::vector<std::vector<std::string>>& rows) {
  std::vector<TableColumn> displayed;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::size_t width = display_width(columns[i].heading);
    for (const auto& row : rows) {
      width = std::max(width, display_width(row[i]));
    }
    displayed.push_back({i, std::min(width, columns[i].width_max)});
  }
  return displayed;
}

std::size_t total_width(const std::vector<TableColumn>& displayed) {
  std::size_t total = kGap.size() * (displayed.size() - 1);
  for (const TableColumn& column : displayed) {
    total += column.width;
  }
  return total;
}

}  // namespace

std::string fit_text(std::string_view text, std::size_t width_max) {
  if (display_width(text) <= width_max) {
    return std::string(text);
  }
  return width_max == 0 ? "" : cat(width_prefix(text, width_max - 1), "…");
}

std::string excerpt(std::string_view text, std::size_t characters_max) {
  const std::string line(trimmed(terminal_line(text)));
  const std::string_view beginning = grapheme_prefix(line, characters_max);
  return cat(beginning, beginning.size() < line.size() ? "…" : "");
}

std::string format_table(const std::vector<Column>& columns,
                         const std::vector<std::vector<std::string>>& rows, std::size_t width_max) {
  std::vector<TableColumn> displayed = measured_columns(columns, rows);
  if (total_width(displayed) > width_max) {
    std::erase_if(displayed,
                  [&](const TableColumn& column) { return columns[column.index].optional; });
  }
  const std::size_t total = total_width(displayed);
  const auto flexible = std::ranges::find_if(
      displayed, [&](const TableColumn& column) { return columns[column.index].flexible; });
  if (total > width_max && flexible != displayed.end()) {
    std::size_t& width = flexible->width;
    const std::size_t excess = total - width_max;
    width = std::max(width > excess ? width - excess : 0, std::min(width, kFlexibleMin));
  }
  std::string out;
  const auto append_line = [&](const auto& cell_at) {
    std::string line;
    for (const auto& [index, width] : displayed) {
      line += line.empty() ? "" : kGap;
      append_cell(line, cell_at(index), width, columns[index].align);
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
  const std::int64_t units = count / scale;
  const std::int64_t tenth = count % scale * 10 / scale;
  return units < 10 && unit > 0 ? cat(units, ".", tenth, kUnits[unit]) : cat(units, kUnits[unit]);
}

}  // namespace reprise::cli
