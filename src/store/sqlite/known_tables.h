#pragma once

// The tables that a database of ours may have, and the rows that fit them: a row whose table is
// lost is assigned by its values.

#include <string>
#include <vector>

#include "store/sqlite/connection.h"
#include "store/sqlite/pages.h"

namespace reprise::sqlite {

struct KnownColumn {
  std::string name;
  std::string type;
  bool is_not_null = false;
  bool is_rowid = false;
};

struct KnownTable {
  std::string name;
  std::string sql;        // of the damaged database; "" if it is lost
  bool is_index = false;  // WITHOUT ROWID: its rows are in an index
  std::vector<KnownColumn> columns = {};
  std::string insert = {};
};

std::vector<KnownTable> known_tables();

// Sets the columns to those in `schema`.
Result<> read_columns(Connection& schema, KnownTable& table);

// Whether the row, which is in an index or not, may be one of the table.
bool fits(const KnownTable& table, const StoredRow& row, bool is_index);

}  // namespace reprise::sqlite
