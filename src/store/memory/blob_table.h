#pragma once

// The memory store's blobs: which there are, who names them, and when they were put.

#include <map>
#include <set>

#include "reprise/environment.h"
#include "reprise/message.h"

namespace reprise::store {

class BlobTable {
 public:
  explicit BlobTable(Clock& clock) : clock_(clock) {}

  void put(const BlobHash& hash, std::string_view bytes);
  // Null when there is none.
  const std::string* find(const BlobHash& hash) const;
  // The session's messages show these blocks.
  void name(const SessionId& id, const std::vector<Block>& blocks);
  // The session is gone, and what only it named unless it was put a moment ago.
  void release(const SessionId& id);

 private:
  void pin(const BlobHash& hash, Time put_at);
  void collect();

  Clock& clock_;
  std::map<BlobHash, std::string> bytes_;
  std::map<SessionId, std::set<BlobHash>> names_of_;
  std::map<BlobHash, int> names_;  // how many sessions name it
  std::map<BlobHash, Time> pins_;  // of those that have no name or were put of late
  std::set<std::pair<Time, BlobHash>> pins_by_time_;
};

}  // namespace reprise::store
