#pragma once

// The database of another program, which is not opened in place: even reading it would change the
// files beside it. Its files are first copied to a private folder, and the copy is read.
//
//  (1) The copy is a state that the database had: concurrent writes are detected by the files, and
//      the copy is repeated.
//  (2) Whatever the schema contains, only rows of the named tables are read: no views, triggers or
//      virtual tables are used.

#include <span>
#include <string>
#include <vector>

#include "store/sqlite/connection.h"

namespace reprise::sqlite {

// Larger values are not read: the statement fails at their row.
inline constexpr int kForeignValueMax = 128 << 20;

class ForeignDatabase {
 public:
  // Only those of these tables that exist can be read. busy if the database is written to
  // constantly, corrupt if it is not a database.
  static Result<std::unique_ptr<ForeignDatabase>> open(const std::filesystem::path& file,
                                                       std::span<const std::string_view> tables);
  ~ForeignDatabase();
  ForeignDatabase(const ForeignDatabase&) = delete;
  ForeignDatabase& operator=(const ForeignDatabase&) = delete;

  bool has_table(std::string_view table) const;
  bool has_column(std::string_view table, std::string_view column) const;

  // Rows with these columns (in lower case), and "rowid AS row_number" as the last one. Missing
  // columns are NULL. `tail` is the part of the statement after the table's name.
  template <class... Values>
  Result<Statement> select(std::string_view table, std::initializer_list<std::string_view> columns,
                           std::string_view tail, const Values&... values) {
    return connection_->query(statement_of(table, columns, tail), values...);
  }

 private:
  explicit ForeignDatabase(std::unique_ptr<Connection> connection);
  Result<> find_columns(std::span<const std::string_view> tables);
  void restrict();
  std::string statement_of(std::string_view table, std::initializer_list<std::string_view> columns,
                           std::string_view tail) const;

  struct Table {
    std::string name;
    std::vector<std::string> columns;
    bool has_row_number = true;
  };
  const Table* find(std::string_view table) const;

  std::unique_ptr<Connection> connection_;
  std::vector<Table> tables_;
};

// The sizes and times of the database's files; if they differ, the database may have changed.
std::string foreign_state(const std::filesystem::path& file);

}  // namespace reprise::sqlite
