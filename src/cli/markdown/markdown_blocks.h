#pragma once

// Parts of rendering Markdown: nested blocks, tables and coloured code.

#include <cstddef>  // IWYU pragma: export
#include <utility>
#include <vector>  // IWYU pragma: export

#include "cli/markdown/style.h"  // IWYU pragma: export

namespace reprise::cli::app {

// Lays out nested blocks of text: the prefixes of their lines, and the empty lines between them.
class BlockLines {
 public:
  explicit BlockLines(std::size_t width) : width_(width) {}

  // A prefix for the lines of a block: "│ " for a quote, the mark and the indent of an item.
  struct Container {
    Line mark = {};  // for the first line only
    Line following = {};
  };
  void push(Container container);
  void pop();

  // The columns left for text.
  std::size_t columns() const;
  // Adds the pending empty line before a block.
  void add_gap();
  // Cancels the pending empty line.
  void cancel_gap() { gap_pending_ = false; }
  void add(const std::vector<Line>& lines);

  std::vector<Line> finish() { return std::move(done_); }

 private:
  std::size_t width_;
  std::vector<Line> done_;
  std::vector<Container> containers_;
  std::size_t too_deep_ = 0;  // containers not indented, see push()
  bool gap_pending_ = false;
};

enum class Alignment : std::uint8_t { left, centre, right };

struct Table {
  std::vector<Alignment> alignments;    // the alignment of each column
  std::vector<std::vector<Line>> rows;  // of cells; the first row is the header
};

// Lines of at most `width` columns; long cells are wrapped. If the columns do not fit, each row
// becomes a list of its cells with their headings.
std::vector<Line> table_lines(const Table& table, std::size_t width);

// Colours code of any language: comments, strings, numbers and common keywords, recognised by a
// heuristic. One Line per line of code, sanitized for terminals, with tabs expanded.
std::vector<Line> coloured_code(std::string_view code, std::string_view language);

}  // namespace reprise::cli::app
