#pragma once

// The columns of a database's rows, looked up by name.

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/text.h"

namespace reprise::store {

// A column of the statement in which its name was looked up.
// NOLINTNEXTLINE(performance-enum-size): the number of any column
enum class Column : int { none = -1 };

// One thread at a time.
class ColumnNames {
 public:
  // The case of the table, which may differ from ours.
  void add(std::string_view name) { names_.push_back(ascii_lower(name)); }
  bool empty() const { return names_.empty(); }

  // The search starts after the column found last: rows are nearly always read in the order in
  // which the statement names the columns.
  Column at(std::string_view name) const {
    const std::size_t count = names_.size();
    std::size_t at = next_;
    std::size_t passed = 0;
    while (passed < count && names_[at] != name) {
      at = at + 1 == count ? 0 : at + 1;
      ++passed;
    }
    REPRISE_ASSERT(passed < count);  // the statement selects every column that is read
    next_ = at;
    return static_cast<Column>(at);
  }

  // The columns of a field list of model/fields.h, whose for_each() is found by argument, in its
  // order; Column::none for a field without a column. They are looked up once for all rows.
  template <class Fields>
  std::span<const Column> of(const Fields& fields) const {
    if (fields_ != &fields) {
      columns_.clear();
      for_each(fields, [this](const auto& field) {
        columns_.push_back(field.column.empty() ? Column::none : at(field.column));
      });
      fields_ = &fields;
    }
    return columns_;
  }

 private:
  std::vector<std::string> names_;
  mutable std::size_t next_ = 0;
  mutable const void* fields_ = nullptr;  // the list to which these columns belong
  mutable std::vector<Column> columns_;
};

}  // namespace reprise::store
