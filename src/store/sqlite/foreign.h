#pragma once

// Another program's database, which is not opened where it stands: even reading one changes the
// files beside it. Its files are copied into a private folder first, and the copy is read.
//  (1) The copy is a state that the database had: what was written meanwhile is noticed by the
//      files, and the copy is made again.
//  (2) Whatever its schema holds, nothing runs but reading rows of the tables that were named: no
//      views, triggers and virtual tables.

#include <span>
#include <string>
#include <vector>

#include "store/sqlite/connection.h"

namespace reprise::sqlite {

// A larger value is not read: the statement fails at its row.
inline constexpr int kForeignValueMax = 128 << 20;

class ForeignDatabase {
 public:
  // Only these tables can be read, those of them that are there. busy when the database is written
  // to all the time, corrupt when it is none.
  static Result<std::unique_ptr<ForeignDatabase>> open(const std::filesystem::path& file,
                                                       std::span<const std::string_view> tables);
  ~ForeignDatabase();
  ForeignDatabase(const ForeignDatabase&) = delete;
  ForeignDatabase& operator=(const ForeignDatabase&) = delete;

  bool has_table(std::string_view table) const;
  bool has_column(std::string_view table, std::string_view column) const;

  // Rows with these columns (in small letters), and "rowid AS row_number" as the last one. A column
  // that the table lacks is NULL. `tail` is what follows the name of the table in the statement.
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

// Tells whether the database may have changed: the sizes and times of its files.
std::string foreign_state(const std::filesystem::path& file);

}  // namespace reprise::sqlite
