#pragma once

// A tool's database as its source reads it: a copy, made anew when the tool has written.

#include <filesystem>
#include <initializer_list>
#include <map>  // IWYU pragma: export
#include <memory>
#include <span>

#include "reprise/source.h"
#include "store/sqlite/foreign.h"

namespace reprise::source {

using Database = sqlite::ForeignDatabase;

class DatabasePlace {
 public:
  // `tables` are those that may be read; they live as long as the program.
  DatabasePlace(std::filesystem::path file, std::span<const std::string_view> tables)
      : file_(std::move(file)), tables_(tables) {}

  const std::filesystem::path& file() const { return file_; }
  // As it is now.
  Result<std::shared_ptr<Database>> refresh();
  // The same, but where copying takes long, a copy serves for a while.
  Result<std::shared_ptr<Database>> current();
  // Changes when current() would make another copy.
  std::string state();

 private:
  std::filesystem::path file_;
  std::span<const std::string_view> tables_;
  std::shared_ptr<Database> copy_;
  std::string state_;
  std::chrono::steady_clock::time_point good_until_;
};

// Whether the file is a SQLite database with these tables, which need columns of the names after
// them: {"session", "slug"}.
struct TableMark {
  std::string_view table;
  std::string_view column;
};
Result<bool> is_database_with(const std::filesystem::path& file, std::span<const TableMark> marks);

// Whether a database says that it is one of Reprise's.
bool is_own_database(const std::filesystem::path& file);

// Calls `each` with every row; a row that cannot be read ends it, which is damage.
void for_each_row(Result<sqlite::Statement> rows, std::string_view where, ReadReport& report,
                  const std::function<void(sqlite::Statement&)>& each);

struct TableColumns {
  std::string_view table;
  std::initializer_list<std::string_view> columns;
};

// Calls `each` with the row that is this session's, whose table has the tool's ids in "id".
void for_session_row(Database& database, const TableColumns& from, const SessionId& id,
                     ReadReport& report, const std::function<void(sqlite::Statement&)>& each);

// How many rows of a table have each value of a column.
std::map<std::string, std::int64_t> count_rows(Database& database, std::string_view table,
                                               std::string_view column, ReadReport& report);

// A column with a time of any form; Time{} for none.
Time time_column(const sqlite::Statement& row, std::string_view column);

// The columns that are not NULL as one object: numbers as such, else texts.
RawJson row_json(const sqlite::Statement& row, std::initializer_list<std::string_view> columns);

// A column with JSON; "null" for what is none, so that it can be looked into.
std::string json_column(const sqlite::Statement& row, std::string_view column);

}  // namespace reprise::source
