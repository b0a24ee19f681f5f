#pragma once

// A tool's database, read from a copy that is refreshed when the tool has written.

#include <filesystem>
#include <initializer_list>  // IWYU pragma: export
#include <map>               // IWYU pragma: export
#include <memory>            // IWYU pragma: export
#include <span>

#include "reprise/source.h"
#include "source/reuse_time.h"
#include "store/sqlite/connection.h"  // IWYU pragma: export
#include "store/sqlite/foreign.h"     // IWYU pragma: export

namespace reprise::source {

using Database = sqlite::ForeignDatabase;

class DatabaseCopy {
 public:
  // `tables` names the tables that may be read; it must have static lifetime.
  DatabaseCopy(std::filesystem::path file, std::span<const std::string_view> tables)
      : file_(std::move(file)), tables_(tables) {}

  const std::filesystem::path& file() const { return file_; }
  // The current state: copies the database if it has changed.
  Result<std::shared_ptr<Database>> refresh();
  // Like refresh(), but reuses a copy that took long for a while, even if stale.
  Result<std::shared_ptr<Database>> current();
  // Changes when current() would make another copy.
  std::string state();

 private:
  std::filesystem::path file_;
  std::span<const std::string_view> tables_;
  std::shared_ptr<Database> copy_;
  std::string state_;
  ReuseTime reuse_;
};

// A table and a column that it must have: {"session", "slug"}. is_database_with() checks for all.
struct TableSignature {
  std::string_view table;
  std::string_view column;
};
Result<bool> is_database_with(const std::filesystem::path& file,
                              std::span<const TableSignature> signatures);

// Whether the database has Reprise's application id.
bool is_own_database(const std::filesystem::path& file);

// Calls `each` for every row; stops at a row that cannot be read and reports it as damage.
void for_each_row(Result<sqlite::Statement> rows, std::string_view where, ReadReport& report,
                  const std::function<void(sqlite::Statement&)>& each);

struct TableColumns {
  std::string_view table;
  std::initializer_list<std::string_view> columns;
};

// Calls `each` with the row of this session; column "id" has the tool's ids.
void for_session_row(Database& database, const TableColumns& from, const SessionId& id,
                     ReadReport& report, const std::function<void(sqlite::Statement&)>& each);

// The number of rows per value of a column.
std::map<std::string, std::int64_t> count_rows(Database& database, std::string_view table,
                                               std::string_view column, ReadReport& report);

// A column with a time in any form; Time{} if it has none.
Time time_column(const sqlite::Statement& row, std::string_view column);

// The columns that are not NULL as a JSON object: integers as numbers, all else as strings.
RawJson row_json(const sqlite::Statement& row, std::initializer_list<std::string_view> columns);

// A column with JSON; "null" if it is malformed.
std::string json_column(const sqlite::Statement& row, std::string_view column);

}  // namespace reprise::source
