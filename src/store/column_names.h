#pragma once

// The columns of a database's rows, found by their names. Rows are nearly always read in the order
// in which the statement names the columns, so that a name is found at the first look.

#include <cstddef>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/text.h"

namespace reprise::store {

// One thread at a time.
class ColumnNames {
 public:
  // As tables spell them, which need not be our way.
  void add(std::string_view name) { names_.push_back(ascii_lower(name)); }
  bool empty() const { return names_.empty(); }

  int at(std::string_view name) const {
    std::size_t looks = 0;
    while (looks < names_.size() && names_[next_] != name) {
      next_ = next_ + 1 == names_.size() ? 0 : next_ + 1;
      ++looks;
    }
    REPRISE_ASSERT(looks < names_.size());  // the statement's text has what is read from its rows
    return static_cast<int>(next_);
  }

 private:
  std::vector<std::string> names_;
  mutable std::size_t next_ = 0;
};

}  // namespace reprise::store
