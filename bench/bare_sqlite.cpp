#include "bare_sqlite.h"

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "measure.h"

namespace bench {
namespace {

constexpr const char* kPlainTables =
    "CREATE TABLE IF NOT EXISTS messages(session_id TEXT, seq INTEGER, role TEXT, content TEXT);"
    "CREATE TABLE IF NOT EXISTS sessions(id TEXT PRIMARY KEY, title TEXT, updated INTEGER);"
    "CREATE INDEX IF NOT EXISTS by_activity ON sessions(updated DESC);";

// From docs/formats/sqlite.md, without what an append does not need.
constexpr const char* kOriginalTables =
    "CREATE TABLE IF NOT EXISTS sessions(id TEXT PRIMARY KEY, model TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS messages(id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, seq INTEGER NOT NULL,"
    " role TEXT NOT NULL, content TEXT NOT NULL,"
    " created_at DATETIME NOT NULL DEFAULT (datetime('now')), UNIQUE(session_id, seq));";

void bind(sqlite3_stmt* statement, int index, std::string_view text) {
  sqlite3_bind_text(statement, index, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
}

std::string text(sqlite3_stmt* statement, int column) {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement, column))};
}

}  // namespace

BareSqlite::BareSqlite(const std::filesystem::path& file, Tables tables) : tables_(tables) {
  require(sqlite3_open(file.c_str(), &db_) == SQLITE_OK, "cannot open the bare database");
  run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;");
  run(tables == Tables::plain ? kPlainTables : kOriginalTables);
}

BareSqlite::~BareSqlite() {
  sqlite3_finalize(append_);
  sqlite3_close(db_);
}

void BareSqlite::begin() {
  run("BEGIN IMMEDIATE");
}

void BareSqlite::commit() {
  run("COMMIT");
}

void BareSqlite::append(std::string_view session, std::int64_t seq, std::string_view role,
                        std::string_view content) {
  if (append_ == nullptr) {
    append_ = prepare(tables_ == Tables::plain
                          ? "INSERT INTO messages VALUES(?, ?, ?, ?)"
                          : "INSERT INTO messages(session_id, seq, role, content, created_at)"
                            " VALUES(?, ?, ?, '[{\"type\":\"text\",\"text\":\"' || ? || '\"}]',"
                            " '2026-01-18 20:00:00')");
  }
  bind(append_, 1, session);
  sqlite3_bind_int64(append_, 2, seq);
  bind(append_, 3, role);
  bind(append_, 4, content);
  require(sqlite3_step(append_) == SQLITE_DONE, "cannot insert into the bare database");
  sqlite3_reset(append_);
}

std::vector<BareMessage> BareSqlite::read(std::string_view session) {
  std::vector<BareMessage> messages;
  sqlite3_stmt* rows = prepare("SELECT seq, role, content FROM messages WHERE session_id = ?");
  bind(rows, 1, session);
  while (sqlite3_step(rows) == SQLITE_ROW) {
    messages.push_back({sqlite3_column_int64(rows, 0), text(rows, 1), text(rows, 2)});
  }
  sqlite3_finalize(rows);
  return messages;
}

void BareSqlite::add_session(std::string_view id) {
  sqlite3_stmt* row = prepare("INSERT INTO sessions(id, model) VALUES(?, 'm')");
  bind(row, 1, id);
  require(sqlite3_step(row) == SQLITE_DONE, "cannot add a session to the bare database");
  sqlite3_finalize(row);
}

void BareSqlite::add_sessions(std::int64_t count) {
  begin();
  sqlite3_stmt* rows = prepare(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
      "INSERT INTO sessions SELECT printf('01980000-0000-7000-8000-%012x', i),"
      " 'session number ' || i, i FROM n");
  sqlite3_bind_int64(rows, 1, count);
  require(sqlite3_step(rows) == SQLITE_DONE, "cannot fill the bare database");
  sqlite3_finalize(rows);
  commit();
}

std::vector<BareSession> BareSqlite::newest(int count) {
  std::vector<BareSession> sessions;
  sqlite3_stmt* rows =
      prepare("SELECT id, title, updated FROM sessions ORDER BY updated DESC LIMIT ?");
  sqlite3_bind_int(rows, 1, count);
  while (sqlite3_step(rows) == SQLITE_ROW) {
    sessions.push_back({text(rows, 0), text(rows, 1), sqlite3_column_int64(rows, 2)});
  }
  sqlite3_finalize(rows);
  return sessions;
}

sqlite3_stmt* BareSqlite::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  require(sqlite3_prepare_v2(db_, sql, -1, &statement, nullptr) == SQLITE_OK, sqlite3_errmsg(db_));
  return statement;
}

void BareSqlite::run(const char* sql) {
  require(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) == SQLITE_OK, sqlite3_errmsg(db_));
}

}  // namespace bench
