#pragma once

// The database of the index: its file, its tables, and the rules for writers.
//
//  sources   indexed sources, by URL; `mark` is the change token and `position` the position of the
//            ChangeReader when all of it was indexed
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

#include <chrono>  // IWYU pragma: export

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

class IndexFile {
 public:
  // Created when missing, rebuilt when damaged or of another version.
  static Result<std::unique_ptr<IndexFile>> open(const std::filesystem::path& file);

  sqlite::Connection& db() { return *db_; }

  // Must be held to write. busy if another process holds it after `wait`.
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
  Result<> connect();
  Result<> create();

  std::filesystem::path file_;
  std::unique_ptr<LockFile> lock_;
  std::unique_ptr<sqlite::Connection> db_;
};

}  // namespace reprise::search
