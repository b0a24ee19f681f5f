#include "store/sqlite/purge.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "base/text.h"
#include "reprise/environment.h"
#include "store/sqlite/blobs.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/original.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/schema.h"

namespace reprise::sqlite {
namespace {

constexpr std::int64_t kStepBytes = std::int64_t{256} << 10;
constexpr std::int64_t kRowBytes = 8 << 10;          // a page of the table and one of its index
constexpr std::int64_t kChainBytes = 4;              // in each page of a large row: the next page
constexpr std::int64_t kBlobReferencesPerStep = 16;  // each in several indexes by hash

constexpr std::string_view kOfSession = "session_id = ?1";
constexpr std::string_view kOfRetained =
    "session_id IN (SELECT id FROM reprise_kept WHERE kept_for = ?1)";
constexpr std::string_view kNewestFirst = " ORDER BY session_id, seq DESC";

// The length of the number in a row's header that is the type of a value of so many bytes.
std::int64_t length_of_type(std::int64_t bytes) {
  std::int64_t length = 0;
  for (std::int64_t type = 2 * bytes + 13; type > 0; type >>= 7) {
    ++length;
  }
  return length;
}

}  // namespace

Result<> delete_session(Connection& connection, const SessionId& id, Clock& clock) {
  REPRISE_TRY(release_blobs(connection, id, clock));
  for (const std::string_view table : {kResultBlobsTable, kSnapshotsTable}) {
    REPRISE_ASSIGN(const bool exists, has_table(connection, table));
    if (exists) {
      REPRISE_TRY(
          connection.run(cat("DELETE FROM main.", table, " WHERE session_id = ?"), id.str()));
    }
  }
  // Foreign keys delete the remaining rows of the session.
  return connection.run("DELETE FROM sessions WHERE id = ?", id.str());
}

Result<> PurgeSteps::hide(Connection& connection) {
  return connection.run(
      "UPDATE sessions SET state = 'trashed', state_before_trash = 'trashed',"
      " trashed_us = coalesce(trashed_us, ?) WHERE id = ?",
      microseconds_of(clock_.now()), id_.str());
}

Result<bool> PurgeSteps::step(Connection& connection) {
  const std::array<Rows, 7> all = {{
      {"messages", "content", cat(kOfSession, kNewestFirst)},
      {std::string(kKeptMessagesTable), "content", cat(kOfRetained, kNewestFirst)},
      {"reprise_artefacts", "bytes", std::string(kOfSession)},
      // In the order of put_blob(), which may put a blob again meanwhile.
      {"reprise_blobs", "bytes",
       cat("hash IN (SELECT hash FROM reprise_blob_refs WHERE ", kOfSession,
           ") AND NOT EXISTS (SELECT 1 FROM reprise_blob_refs AS r WHERE r.hash ="
           " reprise_blobs.hash AND NOT r.",
           kOfSession,
           ") AND NOT EXISTS (SELECT 1 FROM reprise_pins AS p WHERE p.hash = reprise_blobs.hash"
           " AND p.put_us >= ",
           pinned_since_us(clock_), ") ORDER BY hash, n")},
      {std::string(kResultBlobsTable), "content", "session_id = ?1"},
      {std::string(kSnapshotsTable), "messages", "session_id = ?1"},
      {"reprise_prompts", "prompts", std::string(kOfSession)},
  }};
  for (const Rows& rows : all) {
    REPRISE_ASSIGN(const bool exists, has_table(connection, rows.table));
    if (!exists) {
      continue;
    }
    REPRISE_ASSIGN(const bool has_more, delete_rows(connection, rows));
    if (has_more) {
      return true;
    }
  }
  REPRISE_ASSIGN(const bool has_more, delete_blob_references(connection));
  return has_more ? Result<bool>(true) : delete_small_rows(connection);
}

Result<bool> PurgeSteps::delete_blob_references(Connection& connection) {
  REPRISE_ASSIGN(const auto hashes,
                 connection.texts(cat("SELECT DISTINCT hash FROM reprise_blob_refs WHERE ",
                                      kOfSession, " LIMIT ", kBlobReferencesPerStep),
                                  id_.str()));
  for (const std::string& hash : hashes) {
    REPRISE_TRY(
        connection.run(cat("DELETE FROM reprise_blob_refs WHERE ", kOfSession, " AND hash = ?2"),
                       id_.str(), hash));
    REPRISE_TRY(connection.run("DELETE FROM reprise_pins WHERE hash = ? AND put_us < ?", hash,
                               pinned_since_us(clock_)));
  }
  return !hashes.empty();
}

// Rows that are in the order of their primary key.
Result<bool> PurgeSteps::delete_small_rows(Connection& connection) const {
  struct SmallRows {
    std::string_view table;
    std::string_view key;
    int per_step;
  };
  for (const auto& [table, key, per_step] :
       {SmallRows{"reprise_once", "name", 1000}, SmallRows{"reprise_answers", "n", 16}}) {
    REPRISE_TRY(connection.run(
        cat("DELETE FROM ", table, " WHERE (session_id, ", key, ") IN (SELECT session_id, ", key,
            " FROM ", table, " WHERE ", kOfSession, " LIMIT ", per_step, ")"),
        id_.str()));
    if (connection.changes() > 0) {
      return true;
    }
  }
  return false;
}

Result<bool> PurgeSteps::delete_rows(Connection& connection, const Rows& rows) {
  REPRISE_ASSIGN(Statement row, connection.query(cat("SELECT rowid AS row, length(CAST(",
                                                     rows.column, " AS BLOB)) AS size FROM main.",
                                                     rows.table, " WHERE ", rows.condition),
                                                 id_.str()));
  std::vector<std::int64_t> chosen;
  for (std::int64_t bytes = 0; bytes < kStepBytes;) {
    REPRISE_ASSIGN(const bool has_row, row.step());
    if (!has_row) {
      break;
    }
    const std::int64_t number = row.integer("row");
    const std::int64_t size = row.integer("size");
    const bool is_overwritten = number == overwritten_row_ && overwritten_ >= size;
    if (size > 2 * kStepBytes && !is_overwritten) {
      if (chosen.empty()) {
        return overwrite(connection, rows, number, size);
      }
      break;
    }
    chosen.push_back(number);
    bytes += kRowBytes + (is_overwritten ? 0 : size);
  }
  for (const std::int64_t rowid : chosen) {
    REPRISE_TRY(delete_row(connection, rows, rowid));
  }
  if (rows.table == "messages" && !chosen.empty()) {
    REPRISE_TRY(connection.run(
        "UPDATE sessions SET head = max(base_count, coalesce((SELECT max(seq) + 1 FROM messages"
        " AS m WHERE m.session_id = sessions.id), 0)) WHERE id = ?",
        id_.str()));
  }
  return !chosen.empty();
}

Result<> PurgeSteps::delete_row(Connection& connection, const Rows& rows, std::int64_t row) {
  if (row == overwritten_row_) {
    overwritten_row_ = kNoRow;  // another table may have the same rowid
    REPRISE_TRY(free_overwritten(connection, rows, row, overwritten_));
  }
  return connection.run(cat("DELETE FROM main.", rows.table, " WHERE rowid = ?"), row);
}

// Pages that were already overwritten need not be overwritten again when they are freed. The part
// of the row in its leaf keeps its size, so that SQLite does not merge leaves: it would free those
// without overwriting what they have of other rows.
Result<> PurgeSteps::free_overwritten(Connection& connection, const Rows& rows, std::int64_t row,
                                      std::int64_t bytes) {
  REPRISE_ASSIGN(const std::int64_t page, connection.integer("PRAGMA main.page_size"));
  const std::int64_t in_page = page - kChainBytes;
  std::int64_t remaining = bytes % in_page + in_page;
  remaining += length_of_type(bytes) - length_of_type(remaining);
  REPRISE_TRY(connection.script("PRAGMA secure_delete = FAST"));
  auto freed = connection.run(
      cat("UPDATE main.", rows.table, " SET ", rows.column, " = zeroblob(?) WHERE rowid = ?"),
      remaining, row);
  REPRISE_TRY(connection.script("PRAGMA secure_delete = ON"));
  return freed;
}

// Overwrites in place, so that only the step's log needs space.
Result<bool> PurgeSteps::overwrite(Connection& connection, const Rows& rows, std::int64_t row,
                                   std::int64_t bytes) {
  if (overwritten_row_ != row) {
    overwritten_row_ = row;
    overwritten_ = 0;
  }
  const std::string zeros(static_cast<std::size_t>(std::min(kStepBytes, bytes - overwritten_)),
                          '\0');
  sqlite3_blob* open = nullptr;
  int code = sqlite3_blob_open(connection.handle(), "main", rows.table.c_str(), rows.column.c_str(),
                               row, 1, &open);
  if (code == SQLITE_OK) {
    code = sqlite3_blob_write(open, zeros.data(), static_cast<int>(zeros.size()),
                              static_cast<int>(overwritten_));
  }
  const int closed = sqlite3_blob_close(open);
  code = code == SQLITE_OK ? closed : code;
  if (code != SQLITE_OK) {
    return std::unexpected(connection.error(code));
  }
  overwritten_ += std::ssize(zeros);
  return true;
}

}  // namespace reprise::sqlite
