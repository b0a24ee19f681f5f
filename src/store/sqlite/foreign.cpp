#include "store/sqlite/foreign.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <initializer_list>
#include <memory>

#include "base/assert.h"
#include "base/text.h"
#include "reprise/error.h"
#include "store/paths.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/private_folder.h"

namespace reprise::sqlite {
namespace {

namespace fs = std::filesystem;

bool is_plain_name(std::string_view name) {
  return !name.empty() &&
         std::ranges::all_of(name, [](char c) { return is_ascii_alnum(c) || c == '_'; });
}

}  // namespace

ForeignDatabase::ForeignDatabase(std::unique_ptr<Connection> connection)
    : connection_(std::move(connection)) {}

ForeignDatabase::~ForeignDatabase() {
  sqlite3_set_authorizer(connection_->handle(), nullptr, nullptr);
}

Result<std::unique_ptr<ForeignDatabase>> ForeignDatabase::open(
    const fs::path& file, std::span<const std::string_view> tables) {
  REPRISE_ASSIGN(const PrivateFolder folder, PrivateFolder::make());
  const fs::path copy = folder.path() / "copy.db";
  REPRISE_TRY(copy_foreign_files(file, copy));
  // Exclusive, so that the files remain open when they are unlinked.
  REPRISE_ASSIGN(auto connection,
                 Connection::open(copy, OpenMode::read_exclusive, std::chrono::milliseconds(0)));
  connection->set_file(file);
  sqlite3* const handle = connection->handle();
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kForeignValueMax);
  // Leaves out what cannot be parsed, such as an index over a function that is unknown or unsafe.
  REPRISE_TRY(connection->script(
      "PRAGMA writable_schema=ON;PRAGMA cell_size_check=ON;PRAGMA query_only=ON"));
  std::unique_ptr<ForeignDatabase> database(new ForeignDatabase(std::move(connection)));
  REPRISE_TRY(database->find_columns(tables));
  database->restrict();
  return database;
}

// Virtual tables and views have no root page.
Result<> ForeignDatabase::find_columns(std::span<const std::string_view> tables) {
  for (const std::string_view name : tables) {
    REPRISE_ASSIGN(const std::int64_t is_table,
                   connection_->integer("SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND"
                                        " name = ? AND rootpage > 0",
                                        name));
    if (is_table == 0) {
      continue;
    }
    Table table{std::string(name), {}, true};
    REPRISE_ASSIGN(Statement column,
                   connection_->prepare(cat("PRAGMA table_info(\"", name, "\")")));
    REPRISE_TRY(column.each([&] { table.columns.push_back(ascii_lower(column.text("name"))); }));
    if (table.columns.empty()) {
      return fail(Code::corrupt, cat("the definition of the table ", name, " cannot be read"));
    }
    // Tables WITHOUT ROWID have no rowid.
    table.has_row_number =
        sqlite3_table_column_metadata(connection_->handle(), "main", table.name.c_str(), "rowid",
                                      nullptr, nullptr, nullptr, nullptr, nullptr) == SQLITE_OK;
    tables_.push_back(std::move(table));
  }
  return {};
}

void ForeignDatabase::restrict() {
  const auto check = [](void* self, int action, const char* first, const char* /*second*/,
                        const char* database, const char* /*inner*/) {
    if (action == SQLITE_SELECT || action == SQLITE_FUNCTION) {
      return SQLITE_OK;
    }
    const bool is_read = action == SQLITE_READ && first != nullptr &&
                         (database == nullptr || std::string_view(database) == "main");
    return is_read && static_cast<const ForeignDatabase*>(self)->find(first) != nullptr
               ? SQLITE_OK
               : SQLITE_DENY;
  };
  sqlite3_set_authorizer(connection_->handle(), check, this);
}

const ForeignDatabase::Table* ForeignDatabase::find(std::string_view table) const {
  const auto found = std::ranges::find(tables_, table, &Table::name);
  return found == tables_.end() ? nullptr : &*found;
}

bool ForeignDatabase::has_table(std::string_view table) const {
  return find(table) != nullptr;
}

bool ForeignDatabase::has_column(std::string_view table, std::string_view column) const {
  const Table* const found = find(table);
  return found != nullptr && std::ranges::find(found->columns, column) != found->columns.end();
}

std::string ForeignDatabase::statement_of(std::string_view table,
                                          std::initializer_list<std::string_view> columns,
                                          std::string_view tail) const {
  std::string sql = "SELECT ";
  for (const std::string_view column : columns) {
    REPRISE_ASSERT(is_plain_name(column));  // from us, never from the database
    sql += has_column(table, column) ? cat('"', column, "\", ") : cat("NULL AS \"", column, "\", ");
  }
  const Table* const found = find(table);
  const bool has_number = found != nullptr && found->has_row_number;
  return cat(sql, has_number ? "rowid" : "0", " AS row_number FROM main.\"", table, "\" ", tail);
}

std::string foreign_state(const fs::path& file) {
  std::string state;
  for (const std::string_view suffix : {"", "-wal", "-journal"}) {
    struct stat status = {};
    if (::lstat(store::beside(file, suffix).c_str(), &status) == 0) {
      state += cat(suffix, " ", status.st_ino, " ", status.st_size, " ", status.st_mtim.tv_sec, ".",
                   status.st_mtim.tv_nsec, " ");
    }
  }
  return state;
}

}  // namespace reprise::sqlite
