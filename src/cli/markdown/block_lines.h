#pragma once

// Lays out nested blocks of text: the prefixes of their lines, and the empty lines between them.

#include <utility>

#include "cli/markdown/style.h"

namespace reprise::cli::app {

class BlockLines {
 public:
  explicit BlockLines(std::size_t width) : width_(width) {}

  // A prefix for the lines of a block: "│ " for a quote, the mark and the indent of an item.
  struct Container {
    Line mark = {};  // for the first line only
    Line rest = {};
  };
  void push(Container container);
  void pop();

  // The columns left for text.
  std::size_t room() const;
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

}  // namespace reprise::cli::app
