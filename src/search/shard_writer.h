#pragma once

// Adds messages to the shards of one source. Call in a transaction, with the lock held.

#include <optional>
#include <set>

#include "search/document.h"
#include "search/index_file.h"  // IWYU pragma: export

namespace reprise::search {

// A message to be indexed.
struct Entry {
  std::int64_t session;  // the key of its row
  Seq seq;
  std::int64_t time_ms;
  std::string attributes;
  Texts texts;
};

class ShardWriter {
 public:
  // The maximum number of documents in a shard, all of which are rebuilt after a purge.
  static constexpr std::int64_t kDocsMax = 131'072;

  ShardWriter(sqlite::Connection& db, std::int64_t source) : db_(db), source_(source) {}

  // The entries must be in ascending time.
  Result<> add_batch(std::span<const Entry> entries);
  // Merges a part of what large batches added; false if nothing is left to merge. Call before and
  // after the last batch: FTS5 then considers the result larger than what small batches add.
  Result<bool> merge_large();

 private:
  struct Run {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::int64_t oldest_ms = 0;
    std::int64_t newest_ms = 0;
    std::int64_t slack_ms = 0;
  };

  Result<> find_last_shard();
  Result<> begin_shard();
  Result<> begin_run(std::int64_t time_ms);
  Result<> add(const Entry& entry);
  Result<> save();
  Result<> merge_segments(std::size_t added);
  Result<> merge(std::int64_t pages);

  sqlite::Connection& db_;
  std::int64_t source_;
  std::int64_t shard_ = 0;  // 0: none
  std::int64_t docs_ = 0;
  std::int64_t unmerged_ = 0;  // of them, in segments of large batches
  bool is_merging_ = false;
  std::optional<Run> run_;
  std::set<std::int64_t> placed_;  // sessions known to have messages in the shard
  std::string insert_;
};

}  // namespace reprise::search
