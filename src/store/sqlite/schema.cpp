#include "store/sqlite/schema.h"

#include <cstdint>
#include <span>

#include "base/text.h"

namespace reprise::sqlite {
namespace {

// Small columns first, so that reading a head does not read a long system prompt.
constexpr std::string_view kOriginalSessionColumns =
    "id TEXT PRIMARY KEY,"
    "title TEXT NOT NULL DEFAULT '',"
    "model TEXT NOT NULL,"
    "working_dir TEXT NOT NULL DEFAULT '',"
    "created_at DATETIME NOT NULL DEFAULT (datetime('now')),"
    "updated_at DATETIME NOT NULL DEFAULT (datetime('now')),"
    "token_count INTEGER NOT NULL DEFAULT 0,"
    "forked_from TEXT NOT NULL DEFAULT ''";

constexpr Column kSessionColumns[] = {
    {"created_us", "INTEGER"},
    {"updated_us", "INTEGER"},
    {"updated_slot", "INTEGER NOT NULL DEFAULT 0"},
    {"ahead_us", "INTEGER"},
    {"closed_us", "INTEGER"},
    {"trashed_us", "INTEGER"},
    {"state", "TEXT NOT NULL DEFAULT 'active'"},
    {"state_before_trash", "TEXT NOT NULL DEFAULT ''"},
    {"pinned", "INTEGER NOT NULL DEFAULT 0"},
    {"mode", "TEXT NOT NULL DEFAULT ''"},
    {"provider", "TEXT NOT NULL DEFAULT ''"},
    {"head", "INTEGER NOT NULL DEFAULT 0"},
    {"generation", "INTEGER NOT NULL DEFAULT 0"},
    {"forked_at", "INTEGER NOT NULL DEFAULT 0"},
    {"base", "TEXT"},
    {"base_count", "INTEGER NOT NULL DEFAULT 0"},
    {"input_tokens", "INTEGER NOT NULL DEFAULT 0"},
    {"output_tokens", "INTEGER NOT NULL DEFAULT 0"},
    {"reasoning_tokens", "INTEGER NOT NULL DEFAULT 0"},
    {"cached_tokens", "INTEGER NOT NULL DEFAULT 0"},
    {"cost_nanos", "INTEGER"},
    {"price_source", "TEXT NOT NULL DEFAULT ''"},
    {"config", "TEXT NOT NULL DEFAULT 'null'"},
    {"response_chain", "TEXT NOT NULL DEFAULT '[]'"},
    {"extra", "TEXT NOT NULL DEFAULT '{}'"},
};

constexpr std::string_view kOriginalMessageColumns =
    "id INTEGER PRIMARY KEY,"
    "session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,"
    "seq INTEGER NOT NULL,"
    "role TEXT NOT NULL,"
    "created_at DATETIME NOT NULL DEFAULT (datetime('now'))";

constexpr Column kMessageColumns[] = {
    {"created_us", "INTEGER"}, {"provider", "TEXT"}, {"model", "TEXT"}, {"response_id", "TEXT"},
    {"usage", "TEXT"},         {"state", "TEXT"},    {"extra", "TEXT"}, {"author", "TEXT"},
};

constexpr Table kAddedTables[] = {
    // Completed operations ("operation:ID") and counted requests ("request:ID"), in one table, so
    // that an append changes only one page of it.
    {"reprise_once",
     "(session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, name TEXT NOT NULL,"
     " first INTEGER, head INTEGER, PRIMARY KEY(session_id, name)) WITHOUT ROWID"},
    // Running answers: n = 0 is the start of the answer, followed by a row for each piece.
    {"reprise_answers",
     "(session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, n INTEGER NOT NULL,"
     " body TEXT NOT NULL, PRIMARY KEY(session_id, n)) WITHOUT ROWID"},
    {"reprise_todos",
     "(session_id TEXT PRIMARY KEY NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,"
     " items TEXT NOT NULL) WITHOUT ROWID"},
    {"reprise_prompts",
     "(session_id TEXT PRIMARY KEY NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,"
     " prompts TEXT NOT NULL)"},
    {"reprise_artefacts",
     "(id INTEGER PRIMARY KEY,"
     " session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, step INTEGER NOT NULL,"
     " name TEXT NOT NULL, n INTEGER NOT NULL, bytes BLOB NOT NULL,"
     " UNIQUE(session_id, step, name, n))"},
    {"reprise_blobs",
     "(id INTEGER PRIMARY KEY, hash TEXT NOT NULL, n INTEGER NOT NULL, bytes BLOB NOT NULL,"
     " UNIQUE(hash, n))"},
    {"reprise_blob_refs",
     "(session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, hash TEXT NOT NULL,"
     " PRIMARY KEY(session_id, hash)) WITHOUT ROWID"},
    // What replacements retained. No rows of the original's tables, which it would list and show.
    {kKeptTable,
     "(id TEXT PRIMARY KEY NOT NULL,"
     " kept_for TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, base TEXT,"
     " base_count INTEGER NOT NULL, head INTEGER NOT NULL)"},
    // `message` is the id that the row had in `messages`.
    {kKeptMessagesTable,
     "(id INTEGER PRIMARY KEY, message INTEGER NOT NULL,"
     " session_id TEXT NOT NULL REFERENCES reprise_kept(id) ON DELETE CASCADE,"
     " seq INTEGER NOT NULL, role TEXT NOT NULL, created_at DATETIME NOT NULL, created_us INTEGER,"
     " provider TEXT, model TEXT, response_id TEXT, usage TEXT, state TEXT, extra TEXT,"
     " author TEXT, content TEXT NOT NULL, UNIQUE(session_id, seq))"},
    // The time when a blob was put; 0 if it was only kept by references. Removed after kBlobPinned.
    {kPinsTable, "(hash TEXT PRIMARY KEY NOT NULL, put_us INTEGER NOT NULL) WITHOUT ROWID"},
};

// The indexes by activity contain the slot instead of the time, so that appends within a slot do
// not change them. That of authors costs nothing for messages without one.
constexpr std::string_view kIndexes =
    "CREATE INDEX reprise_by_slot ON sessions(state, updated_slot DESC);"
    "CREATE INDEX reprise_by_folder_slot ON sessions(working_dir, state, updated_slot DESC);"
    "CREATE INDEX reprise_by_base ON sessions(base) WHERE base IS NOT NULL;"
    "CREATE INDEX reprise_by_kept_for ON reprise_kept(kept_for);"
    "CREATE INDEX reprise_kept_by_base ON reprise_kept(base) WHERE base IS NOT NULL;"
    "CREATE INDEX reprise_kept_by_message ON reprise_kept_messages(message);"
    "CREATE INDEX reprise_pinned ON sessions(updated_us DESC, id DESC) WHERE pinned = 1;"
    "CREATE INDEX reprise_by_author ON messages(author, session_id, seq) WHERE author IS NOT NULL;"
    "CREATE INDEX reprise_by_hash ON reprise_blob_refs(hash);"
    "CREATE INDEX reprise_by_put ON reprise_pins(put_us);";

// The original program deletes sessions and, with them, references to blobs.
constexpr std::string_view kPinTrigger = R"(
CREATE TRIGGER reprise_blob_unnamed AFTER DELETE ON reprise_blob_refs
WHEN NOT EXISTS (SELECT 1 FROM reprise_blob_refs WHERE hash = OLD.hash)
BEGIN
  INSERT OR IGNORE INTO reprise_pins(hash, put_us)
  SELECT hash, 0 FROM reprise_blobs WHERE hash = OLD.hash AND n = 0;
END;
)";

// A fork by the original program copies messages, whose blobs must outlive the parent.
constexpr std::string_view kCopyTrigger = R"(
CREATE TRIGGER reprise_message_copied AFTER INSERT ON messages WHEN NEW.created_us IS NULL
BEGIN
  INSERT OR IGNORE INTO reprise_blob_refs(session_id, hash)
  SELECT NEW.session_id, hash FROM reprise_blob_refs
  WHERE session_id = (SELECT forked_from FROM sessions WHERE id = NEW.session_id)
    AND instr(NEW.content, hash) > 0;
END;
)";

// For the statements of the original program, which does not know our columns. Our own statements
// set them, so they only pay for the WHEN clauses. Only standard SQLite functions are allowed,
// because the triggers also run in the original program.
constexpr std::string_view kTriggers = R"(
CREATE TRIGGER reprise_session_inserted AFTER INSERT ON sessions WHEN NEW.updated_us IS NULL
BEGIN
  UPDATE sessions SET
    created_us = coalesce(CASE typeof(NEW.created_at) WHEN 'integer' THEN NEW.created_at
      ELSE CAST(strftime('%s', NEW.created_at) AS INTEGER) END * 1000000, 0),
    updated_us = coalesce(CASE typeof(NEW.updated_at) WHEN 'integer' THEN NEW.updated_at
      ELSE CAST(strftime('%s', NEW.updated_at) AS INTEGER) END * 1000000, 0)
  WHERE id = NEW.id;
END;
CREATE TRIGGER reprise_session_updated AFTER UPDATE OF updated_at ON sessions
WHEN NEW.updated_us IS OLD.updated_us AND NEW.ahead_us IS OLD.ahead_us
  AND NEW.updated_at IS NOT OLD.updated_at
BEGIN
  UPDATE sessions SET
    ahead_us = NULL,
    updated_us = coalesce(CASE typeof(NEW.updated_at) WHEN 'integer' THEN NEW.updated_at
      ELSE CAST(strftime('%s', NEW.updated_at) AS INTEGER) END * 1000000, 0)
  WHERE id = NEW.id;
END;
CREATE TRIGGER reprise_message_inserted AFTER INSERT ON messages WHEN NEW.created_us IS NULL
BEGIN
  UPDATE messages SET seq = (SELECT head FROM sessions WHERE id = NEW.session_id)
  WHERE id = NEW.id
    AND NEW.seq < (SELECT base_count FROM sessions WHERE id = NEW.session_id);
  UPDATE sessions SET
    head = max(head, (SELECT seq + 1 FROM messages WHERE id = NEW.id)),
    updated_at = NEW.created_at,
    ahead_us = NULL,
    updated_us = coalesce(CASE typeof(NEW.created_at) WHEN 'integer' THEN NEW.created_at
      ELSE CAST(strftime('%s', NEW.created_at) AS INTEGER) END * 1000000, updated_us)
  WHERE id = NEW.session_id;
END;
CREATE TRIGGER reprise_session_deleted BEFORE DELETE ON sessions
WHEN EXISTS (
  SELECT 1 FROM sessions AS other WHERE other.id <> OLD.id AND (other.base = OLD.id
    OR other.base IN (SELECT kept.id FROM reprise_kept AS kept WHERE kept.kept_for = OLD.id)))
OR EXISTS (
  SELECT 1 FROM reprise_kept AS other WHERE other.kept_for <> OLD.id AND (other.base = OLD.id
    OR other.base IN (SELECT kept.id FROM reprise_kept AS kept WHERE kept.kept_for = OLD.id)))
BEGIN
  SELECT RAISE(ABORT, 'other sessions share its messages');
END;
)";

std::string slot_triggers_sql() {
  const std::string is_stale = cat("NEW.updated_slot IS NOT ", slot_sql("NEW.updated_us"));
  const std::string body =
      cat(" BEGIN UPDATE sessions SET updated_slot = ", slot_sql("NEW.updated_us"),
          " WHERE id = NEW.id; END;");
  return cat("CREATE TRIGGER reprise_slot_inserted AFTER INSERT ON sessions",
             " WHEN NEW.updated_us IS NOT NULL AND ", is_stale, body,
             "CREATE TRIGGER reprise_slot_updated AFTER UPDATE OF updated_us ON sessions WHEN ",
             is_stale, body);
}

void append_columns(std::string& sql, std::span<const Column> columns) {
  for (const Column& column : columns) {
    sql += cat(", ", column.name, " ", column.declaration);
  }
}

}  // namespace

std::span<const Column> session_columns() {
  return kSessionColumns;
}

std::span<const Column> message_columns() {
  return kMessageColumns;
}

std::span<const Table> added_tables() {
  return kAddedTables;
}

std::string added_tables_sql() {
  std::string sql;
  for (const Table& table : kAddedTables) {
    sql += cat("CREATE TABLE ", table.name, table.body, ";");
  }
  return cat(sql, kIndexes);
}

std::string tables_sql() {
  std::string sql = cat("CREATE TABLE sessions(", kOriginalSessionColumns);
  append_columns(sql, kSessionColumns);
  sql += cat(", system_prompt TEXT NOT NULL DEFAULT '');CREATE TABLE messages(",
             kOriginalMessageColumns);
  append_columns(sql, kMessageColumns);
  sql += ", content TEXT NOT NULL, UNIQUE(session_id, seq));";
  return sql + added_tables_sql();
}

std::string triggers_sql() {
  return cat(kTriggers, slot_triggers_sql(), kPinTrigger, kCopyTrigger);
}

std::string slot_sql(std::string_view microseconds) {
  return cat("(", microseconds, " >> ", kSlotBits, ")");
}

std::string fill_slots_sql() {
  return cat("UPDATE sessions SET updated_slot = ", slot_sql("coalesce(updated_us, 0)"), ";");
}

std::span<const Migration> migrations() {
  return {};
}

}  // namespace reprise::sqlite
