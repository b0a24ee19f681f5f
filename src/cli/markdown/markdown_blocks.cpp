#include "cli/markdown/markdown_blocks.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/markdown.h"
#include "base/terminal_text.h"
#include "cli/markdown/style.h"

namespace reprise::cli::app {
namespace {

constexpr std::size_t kDepthMax = 16;
constexpr std::size_t kRoomMin = 10;

void append_line(Line& line, const Line& suffix) {
  for (const Span& span : suffix) {
    append(line, span.text, span.style);
  }
}

constexpr std::string_view kBetween = " │ ";
constexpr std::string_view kColumnCrossing = "─┼─";
constexpr std::size_t kBetweenColumns = 3;
constexpr std::size_t kColumnMin = 5;  // fewer columns break most words

Line bold(Line line) {
  for (Span& span : line) {
    span.style.bold = true;
  }
  return line;
}

const Line& cell_of(const std::vector<Line>& row, std::size_t column) {
  static const Line empty;
  return column < row.size() ? row[column] : empty;
}

std::size_t sum_of(const std::vector<std::size_t>& widths, std::size_t width_max) {
  return std::accumulate(
      widths.begin(), widths.end(), std::size_t{0},
      [width_max](std::size_t sum, std::size_t width) { return sum + std::min(width, width_max); });
}

// The widths that the cells need; the widest columns shrink until all fit. Empty if they cannot.
std::vector<std::size_t> column_widths(const Table& table, std::size_t width) {
  const std::size_t count = table.alignments.size();
  const std::size_t between = count == 0 ? 0 : (count - 1) * kBetweenColumns;
  if (count == 0 || width < between + count) {
    return {};
  }
  const std::size_t columns_max = width - between;
  std::vector<std::size_t> widths(count, 1);
  for (const std::vector<Line>& row : table.rows) {
    for (std::size_t i = 0; i < count; ++i) {
      widths[i] = std::max(widths[i], width_of(cell_of(row, i)));
    }
  }
  std::size_t width_max = columns_max;
  while (width_max >= kColumnMin && sum_of(widths, width_max) > columns_max) {
    --width_max;
  }
  if (sum_of(widths, width_max) > columns_max) {
    return {};
  }
  std::ranges::transform(widths, widths.begin(),
                         [width_max](std::size_t columns) { return std::min(columns, width_max); });
  return widths;
}

// Adds one line of a cell, aligned and padded with blanks.
void add_padded(Line& out, const Line& line, Alignment alignment, std::size_t width) {
  const std::size_t blanks = width - std::min(width, width_of(line));
  const std::size_t before = alignment == Alignment::left    ? 0
                             : alignment == Alignment::right ? blanks
                                                             : blanks / 2;
  append(out, std::string(before, ' '), kPlain);
  for (const Span& span : line) {
    append(out, span.text, span.style);
  }
  append(out, std::string(blanks - before, ' '), kPlain);
}

void add_row(std::vector<Line>& out, const std::vector<std::vector<Line>>& cells,
             const Table& table, const std::vector<std::size_t>& widths) {
  std::size_t height = 1;
  for (const std::vector<Line>& cell : cells) {
    height = std::max(height, cell.size());
  }
  for (std::size_t y = 0; y < height; ++y) {
    Line line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) {
        append(line, kBetween, kDim);
      }
      add_padded(line, cell_of(cells[i], y), table.alignments[i], widths[i]);
    }
    out.push_back(std::move(line));
  }
}

std::vector<Line> in_columns(const Table& table, const std::vector<std::size_t>& widths) {
  std::vector<Line> out;
  for (std::size_t y = 0; y < table.rows.size(); ++y) {
    std::vector<std::vector<Line>> cells;
    cells.reserve(widths.size());
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const Line& cell = cell_of(table.rows[y], i);
      cells.push_back(wrap(y == 0 ? bold(cell) : cell, widths[i]));
    }
    add_row(out, cells, table, widths);
    if (y == 0) {
      Line rule;
      for (std::size_t i = 0; i < widths.size(); ++i) {
        append(rule, i == 0 ? "" : kColumnCrossing, kDim);
        for (std::size_t x = 0; x < widths[i]; ++x) {
          append(rule, "─", kDim);
        }
      }
      out.push_back(std::move(rule));
    }
  }
  return out;
}

std::vector<Line> as_list(const Table& table, std::size_t width) {
  std::vector<Line> out;
  for (std::size_t y = 1; y < table.rows.size(); ++y) {
    if (y > 1) {
      out.emplace_back();
    }
    for (std::size_t i = 0; i < table.alignments.size(); ++i) {
      Line line = bold(cell_of(table.rows.front(), i));
      append(line, ": ", kBold);
      std::ranges::copy(cell_of(table.rows[y], i), std::back_inserter(line));
      std::ranges::move(wrap(line, width), std::back_inserter(out));
    }
  }
  return out;
}

constexpr Style kKeyword{.colour = Colour::magenta};
constexpr Style kString{.colour = Colour::green};
constexpr Style kNumber{.colour = Colour::cyan};

Style style_of(CodeToken token) {
  switch (token) {
    case CodeToken::comment:
      return kDim;
    case CodeToken::string:
      return kString;
    case CodeToken::number:
      return kNumber;
    case CodeToken::keyword:
      return kKeyword;
    case CodeToken::other:
      break;
  }
  return kPlain;
}

}  // namespace

// Containers beyond the depth limit or the available width are counted, but not indented.
void BlockLines::push(Container container) {
  const bool is_wide_enough = columns() >= width_of(container.following) + kRoomMin;
  if (too_deep_ == 0 && is_wide_enough && containers_.size() < kDepthMax) {
    containers_.push_back(std::move(container));
  } else {
    ++too_deep_;
  }
}

void BlockLines::pop() {
  if (too_deep_ > 0) {
    --too_deep_;
  } else {
    containers_.pop_back();
  }
}

std::size_t BlockLines::columns() const {
  std::size_t taken = 0;
  for (const Container& container : containers_) {
    taken += width_of(container.following);
  }
  return width_ - taken;
}

void BlockLines::add_gap() {
  if (!std::exchange(gap_pending_, false)) {
    return;
  }
  Line line;
  for (const Container& container : containers_) {
    append_line(line, container.following);
  }
  done_.push_back(std::move(line));
}

void BlockLines::add(const std::vector<Line>& lines) {
  for (const Line& line : lines) {
    Line prefixed;
    for (Container& container : containers_) {
      append_line(prefixed, container.mark.empty() ? container.following : container.mark);
      container.mark.clear();
    }
    append_line(prefixed, line);
    done_.push_back(std::move(prefixed));
  }
  gap_pending_ = true;
}

std::vector<Line> table_lines(const Table& table, std::size_t width) {
  if (table.rows.empty()) {
    return {};
  }
  const std::vector<std::size_t> widths = column_widths(table, width);
  return widths.empty() ? as_list(table, width) : in_columns(table, widths);
}

std::vector<Line> coloured_code(std::string_view code, std::string_view language) {
  const std::string safe = terminal_text(code);
  std::vector<Line> out;
  for (std::string_view remaining = safe;;) {
    const std::size_t end = std::min(remaining.find('\n'), remaining.size());
    Line& line = out.emplace_back();
    for_each_code_token(
        expand_tabs(remaining.substr(0, end)), language,
        [&line](std::string_view text, CodeToken token) { append(line, text, style_of(token)); });
    if (end == remaining.size()) {
      return out;
    }
    remaining.remove_prefix(end + 1);
  }
}

}  // namespace reprise::cli::app
