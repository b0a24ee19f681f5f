#pragma once

// The database of the index: its file, its tables, and the rules for writers.
//
//  sources   indexed sources, by URL; `mark` is the change token and `position` the position of the
//            ChangeReader when all of it was indexed; `complete` is 1 once that has happened
//  sessions  of a source, with the indexed range of messages [first, next), of which `fingerprint`
//            covers those from `tail` on; `origin` is the session that it was forked from
//  shards    parts of the index, each with an FTS5 table (words_N): a shard with words of a purged
//            session is dropped and rebuilt. vocabulary_N lists the words in it
//  docs      the messages in them: the id consists of the shard's number and the row in its FTS5
//            table. Replaced messages are dead: their seq is negative (-1 - seq)
//  runs      rows of a shard with ascending times, except for `slack_ms`
//  placed    which shards have messages of a session
//  pending   messages to be indexed again because their shard was dropped
//
//  (1) Every write and every checkpoint is made under the lock file (store/sqlite/README.md).
//  (2) FTS5 reads no other file than this one, which only Reprise writes.
//  (3) Content that Reprise did not write is found where it is read: each page has a checksum, and
//      open() compares what the tables say of each other. Then the index is rebuilt. What the
//      machine refuses (a full disk, permissions, file descriptors) changes nothing.

#include <chrono>  // IWYU pragma: export

#include "base/assert.h"              // IWYU pragma: export
#include "base/lock_file.h"           // IWYU pragma: export
#include "reprise/types.h"            // IWYU pragma: export
#include "store/sqlite/connection.h"  // IWYU pragma: export

namespace reprise::search {

inline constexpr int kRowBits = 20;  // of a document's id, below the number of its shard
inline std::int64_t document_id(std::int64_t shard, std::int64_t row) {
  return (shard << kRowBits) + row;
}
// The time in docs.
inline std::int64_t unix_ms(Time time) {
  return std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch().count();
}
std::string words_table(std::int64_t shard);
std::string vocabulary_table(std::int64_t shard);

// The id of a session in the index.
Result<SessionId> parse_indexed(sqlite::Connection& db, std::string_view id);

class IndexFile {
 public:
  // Created when missing, rebuilt when damaged or of another version. If it cannot be written, it
  // can be searched as it is, and lock() returns the reason.
  static Result<std::unique_ptr<IndexFile>> open(const std::filesystem::path& file);
  // Removes the file, whatever is in it.
  static Result<> remove(const std::filesystem::path& file);

  sqlite::Connection& db() {
    REPRISE_ASSERT(db_ != nullptr);
    return *db_;
  }
  // Opens the file that is there now, if another process has rebuilt it or rebuilding it failed.
  // Call before db().
  Result<> refresh();
  bool is_damaged() const { return db_ != nullptr && db_->has_wrong_content(); }

  // Must be held to write. busy if another process holds it after `wait`. The file that is open is
  // the one that is there.
  Result<LockFile::Hold> lock(std::chrono::milliseconds wait);
  // Rebuilds it empty; the lock must be held.
  Result<> rebuild();
  // Checkpoints the log; the lock must be held.
  Result<> checkpoint();
  // Truncates a long log, unless there are readers: opening the index reads all of it. The lock
  // must be held.
  Result<> trim_wal();
  // Checkpoints and truncates the log, so that no deleted byte is left in it; busy if there are
  // readers. The lock must be held.
  Result<> checkpoint_clean();

 private:
  explicit IndexFile(std::filesystem::path file) : file_(std::move(file)) {}
  Result<> open_or_create();
  Result<> open_for_reading();
  Result<> connect();
  bool is_rebuildable(const Result<>& connected) const;
  Result<> configure();
  Result<> check_content();
  Result<> remove_parts();
  Result<> create();

  std::filesystem::path file_;
  std::unique_ptr<LockFile> lock_;     // null: the file is open for reading
  std::optional<Error> cannot_write_;  // then: why
  std::unique_ptr<sqlite::Connection> db_;
};

}  // namespace reprise::search
