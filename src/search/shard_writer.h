#pragma once

// Adds messages to the shards of one source. Called in a transaction, under the lock.

#include <optional>
#include <set>

#include "search/document.h"
#include "search/index_file.h"

namespace reprise::search {

// A message to be indexed.
struct Entry {
  std::int64_t session;  // the key of its row
  Seq seq;
  std::int64_t time_ms;
  std::string facts;
  Texts texts;
};

class ShardWriter {
 public:
  // How many documents a shard has: what one purge makes anew.
  static constexpr std::int64_t kDocsMax = 131'072;

  ShardWriter(sqlite::Connection& db, std::int64_t source) : db_(db), source_(source) {}

  // The entries of a batch ascend in time.
  Result<> add_batch(std::span<const Entry> entries);

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

  sqlite::Connection& db_;
  std::int64_t source_;
  std::int64_t shard_ = 0;  // 0: none
  std::int64_t docs_ = 0;
  std::optional<Run> run_;
  std::set<std::int64_t> placed_;  // sessions that are known to have messages in the shard
  std::string insert_;
};

}  // namespace reprise::search
