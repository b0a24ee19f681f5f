#include "sqlite/sqlite_support.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <stdexcept>

#include "base/file.h"
#include "reprise/open_store.h"
#include "support/must.h"

namespace reprise::test {
namespace {

sqlite3* as_sqlite(void* handle) {
  return static_cast<sqlite3*>(handle);
}

int add_row(void* rows, int count, char** values, char** /*names*/) {
  std::string row;
  for (int i = 0; i < count; ++i) {
    row += i == 0 ? "" : "|";
    row += values[i] == nullptr ? "NULL" : values[i];
  }
  static_cast<std::vector<std::string>*>(rows)->push_back(std::move(row));
  return 0;
}

}  // namespace

const std::string_view kFirstRelease = R"(
CREATE TABLE skill_state (name TEXT PRIMARY KEY, version TEXT NOT NULL);
INSERT INTO skill_state VALUES('s', '1');
CREATE TABLE sessions (
  id            TEXT PRIMARY KEY,
  title         TEXT NOT NULL DEFAULT '',
  model         TEXT NOT NULL,
  working_dir   TEXT NOT NULL DEFAULT '',
  system_prompt TEXT NOT NULL DEFAULT '',
  created_at    DATETIME NOT NULL DEFAULT (datetime('now')),
  updated_at    DATETIME NOT NULL DEFAULT (datetime('now')),
  token_count   INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE messages (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  seq        INTEGER NOT NULL,
  role       TEXT NOT NULL,
  content    TEXT NOT NULL,
  created_at DATETIME NOT NULL DEFAULT (datetime('now')),
  UNIQUE(session_id, seq)
);
CREATE INDEX idx_messages_session ON messages(session_id, seq);
)";

const std::string_view kLaterForm = R"(
ALTER TABLE sessions ADD COLUMN forked_from TEXT NOT NULL DEFAULT '';
CREATE TABLE tool_result_blobs (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, tool_name TEXT,
  content TEXT, byte_size INTEGER, created_at DATETIME);
CREATE TABLE session_snapshots (session_id TEXT PRIMARY KEY, messages TEXT NOT NULL,
  token_count INTEGER, created_at DATETIME);
)";

PlainDatabase::PlainDatabase(const std::filesystem::path& file) : handle_(nullptr) {
  sqlite3* handle = nullptr;
  if (sqlite3_open(file.c_str(), &handle) != SQLITE_OK) {
    throw std::runtime_error("cannot open " + file.string());
  }
  handle_ = handle;
  sqlite3_busy_timeout(handle, 10'000);
  run("PRAGMA foreign_keys = ON");
}

PlainDatabase::~PlainDatabase() {
  sqlite3_close(as_sqlite(handle_));
}

void PlainDatabase::run(const std::string& sql) {
  if (!try_run(sql)) {
    throw std::runtime_error(std::string(sqlite3_errmsg(as_sqlite(handle_))) + ": " + sql);
  }
}

bool PlainDatabase::try_run(const std::string& sql) {
  return sqlite3_exec(as_sqlite(handle_), sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
}

std::vector<std::string> PlainDatabase::rows(const std::string& sql) {
  std::vector<std::string> rows;
  if (sqlite3_exec(as_sqlite(handle_), sql.c_str(), add_row, &rows, nullptr) != SQLITE_OK) {
    throw std::runtime_error(std::string(sqlite3_errmsg(as_sqlite(handle_))) + ": " + sql);
  }
  return rows;
}

std::unique_ptr<Store> open_at(const std::filesystem::path& file, const StoreOptions& options) {
  return must(open_sqlite_store(file, options));
}

std::string bytes_of(const std::filesystem::path& file) {
  return must(read_file(file));
}

unsigned mode_of(const std::filesystem::path& file) {
  struct stat status{};
  return ::stat(file.c_str(), &status) == 0 ? status.st_mode & 0777U : 0U;
}

}  // namespace reprise::test
