#pragma once

// The parameters and rows of a statement in PostgreSQL's binary format: numbers are int8 in network
// order, text and bytea are raw bytes, so nothing has to be escaped or quoted.

#include <libpq-fe.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/column_names.h"
#include "store/postgres/libpq_library.h"

namespace reprise::postgres {

using Integers = std::vector<std::int64_t>;                   // int8[]
using ByteStrings = std::vector<std::optional<std::string>>;  // bytea[]

// The values of $1, $2… in order.
class Values {
 public:
  void add(std::string_view bytes);
  void add(const char* text) { add(std::string_view(text)); }
  void add(const std::string& bytes) { add(std::string_view(bytes)); }
  void add(std::int64_t number);
  void add(const Integers& numbers);
  void add(const ByteStrings& strings);
  void add(std::nullopt_t) { slots_.push_back({bytes_.size(), true}); }
  template <class Value>
  void add(const std::optional<Value>& value) {
    if (value) {
      add(*value);
    } else {
      add(std::nullopt);
    }
  }

  // The arrays for libpq; they point into this object.
  struct Bound {
    std::vector<const char*> values;
    std::vector<int> lengths;
    std::vector<int> formats;
    int count() const { return static_cast<int>(values.size()); }
  };
  Bound bound() const;

 private:
  struct Slot {
    std::size_t begin;  // a value ends where the next one begins
    bool is_null;
  };
  void begin() { slots_.push_back({bytes_.size(), false}); }

  std::string bytes_;  // the bytes of all values
  std::vector<Slot> slots_;
};

template <class... Each>
Values values(const Each&... each) {
  Values all;
  (all.add(each), ...);
  return all;
}

// The rows returned by a statement.
class Rows {
 public:
  Rows(const LibpqLibrary& libpq, PGresult* result) : libpq_(&libpq), result_(result, {&libpq}) {}

  int count() const { return libpq_->row_count(result_.get()); }
  bool empty() const { return count() == 0; }
  // Columns by their names in the statement.
  bool is_null(int row, std::string_view column) const { return is_null(row, names().at(column)); }
  // Text or bytea; "" for null.
  std::string_view bytes(int row, std::string_view column) const {
    return bytes(row, names().at(column));
  }
  std::string text(int row, std::string_view column) const {
    return std::string(bytes(row, column));
  }
  // Any width of integer; 0 for null.
  std::int64_t integer(int row, std::string_view column) const {
    return integer(row, names().at(column));
  }
  std::optional<std::string> find_text(int row, std::string_view column) const;

  const store::ColumnNames& names() const;
  bool is_null(int row, store::Column column) const;
  std::string_view bytes(int row, store::Column column) const;
  std::int64_t integer(int row, store::Column column) const;

 private:
  struct Clear {
    const LibpqLibrary* libpq;
    void operator()(PGresult* result) const { libpq->clear(result); }
  };
  const LibpqLibrary* libpq_;
  std::unique_ptr<PGresult, Clear> result_;
  mutable store::ColumnNames names_ = {};  // set by the first lookup
};

// One row.
struct RowView {
  const Rows& rows;
  int row;

  bool is_null(std::string_view column) const { return rows.is_null(row, column); }
  std::string_view bytes(std::string_view column) const { return rows.bytes(row, column); }
  std::int64_t integer(std::string_view column) const { return rows.integer(row, column); }

  // The same by columns that are looked up once.
  template <class Fields>
  std::span<const store::Column> columns(const Fields& fields) const {
    return rows.names().of(fields);
  }
  bool is_null(store::Column column) const { return rows.is_null(row, column); }
  std::string_view bytes(store::Column column) const { return rows.bytes(row, column); }
  std::int64_t integer(store::Column column) const { return rows.integer(row, column); }
};

}  // namespace reprise::postgres
