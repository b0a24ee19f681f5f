#include "store/sqlite/migrate.h"

#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <set>
#include <system_error>

#include "base/file.h"
#include "base/text.h"
#include "reprise/environment.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/copy.h"
#include "store/sqlite/library.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/writer.h"

namespace reprise::sqlite {
namespace {

using Names = std::set<std::string, std::less<>>;

Result<Names> names(Connection& connection, std::string_view sql, std::string_view value) {
  REPRISE_ASSIGN(const auto found, connection.texts(sql, value));
  return Names(found.begin(), found.end());
}

Result<Names> columns_of(Connection& connection, std::string_view table) {
  return names(connection, "SELECT name FROM pragma_table_info(?, 'main')", table);
}

bool has_all(const Names& existing, std::initializer_list<std::string_view> required) {
  return std::ranges::all_of(required,
                             [&](std::string_view name) { return existing.contains(name); });
}

void time_function(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  std::optional<Time> time;
  if (sqlite3_value_type(values[0]) == SQLITE_INTEGER) {
    time = time_of_seconds(sqlite3_value_int64(values[0]));
  } else if (const auto* text = static_cast<const char*>(sqlite3_value_blob(values[0]));
             text != nullptr) {
    time = parse_time({text, static_cast<std::size_t>(sqlite3_value_bytes(values[0]))});
  }
  if (time) {
    sqlite3_result_int64(context, time->time_since_epoch().count());
  } else {
    sqlite3_result_null(context);
  }
}

// An unused name: "reprise.db.v0-20260118T201530Z.bak".
std::filesystem::path copy_name(const std::filesystem::path& file, std::int64_t version,
                                int attempt) {
  std::string time = format_time(std::chrono::floor<std::chrono::seconds>(system_clock().now()));
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  std::filesystem::path name = file;
  name += cat(".v", version, "-", time, attempt == 0 ? "" : cat("-", attempt), ".bak");
  return name;
}

// Copies the database; returns the path of the copy.
Result<std::filesystem::path> copy_before_migration(Connection& connection) {
  constexpr int kAttemptsMax = 100;
  const std::filesystem::path& file = connection.file();
  std::error_code unknown;
  const auto available = std::filesystem::space(file, unknown).available;
  if (const auto size = std::filesystem::file_size(file, unknown); !unknown && available < size) {
    return fail(Code::io, cat("no room for a copy of ", file.string()), ENOSPC);
  }
  REPRISE_ASSIGN(const std::int64_t version, connection.integer("PRAGMA user_version"));
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    std::filesystem::path copy = copy_name(file, version, attempt);
    auto copied = copy_database(connection, copy, file);
    if (copied) {
      return copy;
    }
    if (copied.error().code != Code::conflict) {
      return std::unexpected(std::move(copied).error());
    }
  }
  return fail(Code::conflict, cat("no free name for a copy of ", file.string()));
}

Result<> add_columns(Connection& connection, std::string_view table,
                     std::span<const Column> columns) {
  REPRISE_ASSIGN(const Names existing, columns_of(connection, table));
  for (const Column& column : columns) {
    if (!existing.contains(column.name)) {
      REPRISE_TRY(connection.script(
          cat("ALTER TABLE main.", table, " ADD COLUMN ", column.name, " ", column.declaration)));
    }
  }
  return {};
}

constexpr Column kLaterSessionColumns[] = {
    {"working_dir", "TEXT NOT NULL DEFAULT ''"},
    {"system_prompt", "TEXT NOT NULL DEFAULT ''"},
    {"token_count", "INTEGER NOT NULL DEFAULT 0"},
    {"forked_from", "TEXT NOT NULL DEFAULT ''"},
};

Result<> add_to_original(Connection& connection) {
  REPRISE_TRY(add_columns(connection, "sessions", kLaterSessionColumns));
  REPRISE_TRY(add_columns(connection, "sessions", session_columns()));
  REPRISE_TRY(add_columns(connection, "messages", message_columns()));
  REPRISE_TRY(
      connection.run(cat("UPDATE sessions SET created_us = coalesce(reprise_us(created_at), 0),"
                         " updated_us = coalesce(reprise_us(updated_at), 0),"
                         " head = max(0, coalesce((SELECT max(seq) + 1 FROM messages"
                         " WHERE session_id = sessions.id AND seq < ",
                         kSeqMax.value, "), 0))")));
  return connection.script(fill_slots_sql());
}

// An expression for a session column that an original database may lack.
std::string column_or(const Names& existing, std::string_view column, std::string_view otherwise) {
  return existing.contains(column) ? std::string(column) : cat(otherwise, " AS ", column);
}

std::string default_of(const Column& column) {
  constexpr std::string_view kDefault = " DEFAULT ";
  const std::size_t at = column.declaration.find(kDefault);
  return at == std::string_view::npos
             ? "NULL"
             : std::string(column.declaration.substr(at + kDefault.size()));
}

std::string computed_session_column(const Column& column) {
  if (column.name == "created_us" || column.name == "updated_us") {
    return cat("coalesce(reprise_us(", column.name.substr(0, column.name.size() - 3), "_at), 0)");
  }
  if (column.name == "updated_slot") {
    return slot_sql("coalesce(reprise_us(updated_at), 0)");
  }
  if (column.name == "head") {
    return cat(
        "max(0, coalesce((SELECT max(seq) + 1 FROM main.messages AS m"
        " WHERE m.session_id = main.sessions.id AND m.seq < ",
        kSeqMax.value, "), 0))");
  }
  return default_of(column);
}

// The version that the steps lead to.
std::int64_t version_after(std::span<const Migration> steps) {
  return steps.empty() ? kVersion : steps.back().version;
}

Result<std::span<const Migration>> missing_steps(Connection& connection,
                                                 std::span<const Migration> steps) {
  REPRISE_ASSIGN(const std::int64_t version, connection.integer("PRAGMA user_version"));
  const auto first = std::ranges::upper_bound(steps, version, {}, &Migration::version);
  return std::span<const Migration>(first, steps.end());
}

Result<> set_version(Connection& connection, std::int64_t version) {
  return connection.script(
      cat("PRAGMA application_id=", kApplicationId, ";PRAGMA user_version=", version));
}

Result<> migrate_in_transaction(Connection& connection, SchemaVersion before, Time now,
                                std::span<const Migration> steps) {
  REPRISE_ASSIGN(Transaction transaction, Transaction::begin(connection, "BEGIN EXCLUSIVE"));
  if (before == SchemaVersion::previous) {
    REPRISE_ASSIGN(const auto missing, missing_steps(connection, steps));
    for (const Migration& step : missing) {
      REPRISE_TRY(connection.script(step.statements(microseconds_of(now))));
    }
  } else {
    if (before == SchemaVersion::original) {
      REPRISE_TRY(add_time_function(connection));
      REPRISE_TRY(add_to_original(connection));
    }
    REPRISE_TRY(connection.script(cat(
        before == SchemaVersion::original ? added_tables_sql() : tables_sql(), triggers_sql())));
  }
  REPRISE_TRY(set_version(connection, version_after(steps)));
  return transaction.commit();
}

Result<bool> must_copy(Connection& connection, SchemaVersion before,
                       std::span<const Migration> steps) {
  REPRISE_ASSIGN(const auto missing, missing_steps(connection, steps));
  return before == SchemaVersion::original ||
         (before == SchemaVersion::previous &&
          std::ranges::any_of(missing, &Migration::needs_copy));
}

// If the migration fails, the copy is removed, because each attempt would leave another one.
Result<> migrate_after_copy(Connection& connection, SchemaVersion before, Time now,
                            std::span<const Migration> steps) {
  REPRISE_ASSIGN(const bool copies, must_copy(connection, before, steps));
  if (!copies) {
    return migrate_in_transaction(connection, before, now, steps);
  }
  REPRISE_ASSIGN(const std::filesystem::path copy, copy_before_migration(connection));
  auto changed = migrate_in_transaction(connection, before, now, steps);
  if (!changed) {
    const auto after = schema_version_of(connection, steps);
    if (after && *after == before) {
      (void)remove_if_exists(copy);  // harmless if it cannot be removed
    }
  }
  return changed;
}

}  // namespace

Result<> set_version(Connection& connection) {
  return set_version(connection, version_after(migrations()));
}

Result<> add_time_function(Connection& connection) {
  const int code = sqlite3_create_function_v2(connection.handle(), "reprise_us", 1,
                                              SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                              nullptr, time_function, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Result<>() : std::unexpected(connection.error(code));
}

Result<SchemaVersion> schema_version_of(Connection& connection, std::span<const Migration> steps) {
  REPRISE_ASSIGN(const std::int64_t version, connection.integer("PRAGMA user_version"));
  REPRISE_ASSIGN(const std::int64_t application, connection.integer("PRAGMA application_id"));
  const std::string file = connection.file().string();
  const std::int64_t newest = version_after(steps);
  if (version != 0 && application != kApplicationId) {
    return fail(Code::unsupported, cat(file, " is another program's database"));
  }
  if (version > newest) {
    return fail(Code::unsupported, cat(file, " was written by a newer version (format ", version,
                                       "; this one knows ", newest, "): update reprise"));
  }
  if (version != 0 && version < kVersion) {
    return fail(Code::unsupported, cat(file, " was written by a build of Reprise before its first",
                                       " release; `reprise copy` of that build brings it over"));
  }
  if (version != 0) {
    return version == newest ? SchemaVersion::current : SchemaVersion::previous;
  }
  REPRISE_ASSIGN(const Names tables,
                 names(connection, "SELECT name FROM main.sqlite_schema WHERE type = ?", "table"));
  if (tables.empty()) {
    return SchemaVersion::empty;
  }
  REPRISE_ASSIGN(const Names sessions, columns_of(connection, "sessions"));
  REPRISE_ASSIGN(const Names messages, columns_of(connection, "messages"));
  if (!has_all(sessions, {"id", "title", "model", "created_at", "updated_at"}) ||
      !has_all(messages, {"id", "session_id", "seq", "role", "content", "created_at"})) {
    return fail(Code::unsupported, cat(file, " is another program's database"));
  }
  return SchemaVersion::original;
}

Result<> make_current(Connection& connection, Time now, std::span<const Migration> steps) {
  REPRISE_ASSIGN(const SchemaVersion before, schema_version_of(connection, steps));
  if (before != SchemaVersion::current) {
    REPRISE_TRY(migrate_after_copy(connection, before, now, steps));
  }
  return enable_wal(connection);
}

Result<> enable_wal(Connection& connection) {
  if (!can_map(lock_path(connection.file()))) {
    return {};  // without a log, commits are as durable
  }
  REPRISE_ASSIGN(Statement mode, connection.query("PRAGMA journal_mode=WAL"));
  return mode.run();
}

Result<> create_original_views(Connection& connection) {
  REPRISE_TRY(connection.script("PRAGMA temp_store=MEMORY"));
  REPRISE_TRY(add_time_function(connection));
  REPRISE_ASSIGN(const Names existing, columns_of(connection, "sessions"));
  std::string sql =
      "CREATE TEMP VIEW sessions AS SELECT rowid AS rowid, id, title, model, created_at, "
      "updated_at";
  for (const Column& column : kLaterSessionColumns) {
    sql += cat(", ", column_or(existing, column.name, default_of(column)));
  }
  for (const Column& column : session_columns()) {
    sql += cat(", ", computed_session_column(column), " AS ", column.name);
  }
  sql +=
      " FROM main.sessions;CREATE TEMP VIEW messages AS SELECT id, session_id, seq, role, content,"
      " created_at";
  for (const Column& column : message_columns()) {
    sql += cat(", NULL AS ", column.name);
  }
  sql += " FROM main.messages;";
  for (const Table& table : added_tables()) {
    sql += cat("CREATE TEMP TABLE ", table.name, table.body, ";");
  }
  return connection.script(sql);
}

}  // namespace reprise::sqlite
