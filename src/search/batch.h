#pragma once

// Writes messages to the index in batches of bounded size: each is one transaction, together with
// the progress of its sessions.

#include <map>
#include <optional>  // IWYU pragma: export
#include <vector>

#include "reprise/capabilities.h"  // IWYU pragma: export
#include "reprise/types.h"         // IWYU pragma: export
#include "search/document.h"       // IWYU pragma: export
#include "search/shard_writer.h"

namespace reprise::search {

class Batch {
 public:
  // Both must outlive this. `source` is the source's row.
  Batch(IndexFile& index, std::int64_t source) : index_(index), writer_(index.db(), source) {}

  // Adds a message; messages of a session must be added in order. `tail` ends with it.
  void add(Entry entry, const Tail& tail);
  bool is_full() const { return bytes_ >= kBytesMax || entries_.size() >= kEntriesMax; }

  // A completely indexed session, and its state in the list.
  struct Finished {
    std::int64_t session;
    Seq head;
    Time updated_at;
    std::int64_t revision;
  };
  // With the next write, marks the session as completely indexed.
  void finish(Finished finished) { finished_.push_back(finished); }
  // Sets the pending range, ending with `last`, to which the following messages belong; nullopt:
  // they belong to growing sessions.
  void set_pending(std::optional<Seq> last);
  // With the next write, marks the pending range as indexed.
  void finish_pending(std::int64_t session);

  Result<> write();
  // Writes the last batch.
  Result<> write_last();

 private:
  static constexpr std::size_t kBytesMax = 24 << 20;
  static constexpr std::size_t kEntriesMax = 32'768;

  struct Reached {
    std::int64_t next = 0;
    Tail tail = {};
  };
  struct Range {
    std::int64_t session;
    Seq last;
    friend auto operator<=>(const Range&, const Range&) = default;
  };
  void note_reached();
  Result<> checkpoint_if_long();
  Result<> merge_large();
  Result<> write_progress();

  IndexFile& index_;
  ShardWriter writer_;
  std::vector<Entry> entries_;
  std::size_t bytes_ = 0;
  Tail tail_;
  std::optional<Seq> pending_last_;
  std::map<std::int64_t, Reached> reached_;
  std::vector<Finished> finished_;
  std::map<Range, Seq> reached_pending_;  // the start of the remaining range
};

}  // namespace reprise::search
