#pragma once

// The database of the index: where it is, its tables, and who may write to it.
//
//  sources   what is indexed, by URL; `mark` is the change mark of when all of it was, and
//            `position` where its ChangeReader was then
//  sessions  of a source, and how far each is indexed: the messages [first, next); `origin` is what
//            it was forked from
//  shards    the index in pieces, each with an FTS5 table of its own (words_N): one that holds
//  words
//            of a purged session is dropped and made anew
//  docs      the messages in them: the id is the shard's number and the row's in its FTS5 table.
//  What
//            was replaced is dead: its seq is negative (-1 - seq)
//  runs      rows of a shard that ascend in time, but for `slack_ms`
//  placed    which shards hold messages of a session
//  pending   messages to be indexed again, because their shard was dropped
//
//  (1) Every write is made under the lock file, and so is every checkpoint
//  (store/sqlite/README.md). (2) FTS5 reads no file but this one, which is made by us and is nobody
//  else's.

#include "base/lock_file.h"
#include "store/sqlite/connection.h"

namespace reprise::search {

inline constexpr int kRowBits = 20;  // of a document's id, below the number of its shard
inline std::int64_t document_id(std::int64_t shard, std::int64_t row) {
  return (shard << kRowBits) + row;
}
std::string words_table(std::int64_t shard);

class IndexFile {
 public:
  // Made when it is missing, and anew when it is damaged or of another version.
  static Result<std::unique_ptr<IndexFile>> open(const std::filesystem::path& file);

  sqlite::Connection& db() { return *db_; }

  // What must be held to write. busy when another process has it, after `wait`.
  Result<LockFile::Hold> lock(std::chrono::milliseconds wait);
  // Makes it anew, empty; the lock is held.
  Result<> rebuild();
  // Moves what was written into the file; the lock is held. With `clean` no byte is left in the
  // log, or the error says why.
  Result<> checkpoint();
  // Empties a log that has become long, unless somebody is reading: whoever opens the index reads
  // all of it. The lock is held.
  Result<> trim_log();
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
