#pragma once

// Blocks of text under each other and in each other: what stands before their lines, and the empty
// lines between them.

#include <utility>

#include "cli/app/style.h"

namespace reprise::cli::app {

class BlockLines {
 public:
  explicit BlockLines(std::size_t width) : width_(width) {}

  // What stands before the lines of a block: "│ " of a quote, the mark and the indent of an item.
  struct Container {
    Line mark = {};  // for the first line only
    Line rest = {};
  };
  void push(Container container);
  void pop();

  // The columns that are left for words.
  std::size_t room() const;
  // The empty line before a block, where one is due.
  void part();
  // None is due after all.
  void close_up() { gap_due_ = false; }
  void add(const std::vector<Line>& lines);

  std::vector<Line> finish() { return std::move(done_); }

 private:
  std::size_t width_;
  std::vector<Line> done_;
  std::vector<Container> containers_;
  std::size_t too_deep_ = 0;  // containers that are not there, see push()
  bool gap_due_ = false;
};

}  // namespace reprise::cli::app
