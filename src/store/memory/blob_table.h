#pragma once

// The memory store's blobs: their bytes, the sessions that reference them, and the times of their
// puts.

#include <map>
#include <set>

#include "reprise/environment.h"
#include "reprise/message.h"

namespace reprise::store {

class BlobTable {
 public:
  explicit BlobTable(Clock& clock) : clock_(clock) {}

  void put(const BlobHash& hash, std::string_view bytes);
  // Null if the blob does not exist.
  const std::string* find(const BlobHash& hash) const;
  // Records that the session references the blobs of these blocks.
  void name(const SessionId& id, const std::vector<Block>& blocks);
  // Drops the session's references; blobs without any other are removed unless they were put
  // recently.
  void release(const SessionId& id);

 private:
  void pin(const BlobHash& hash, Time put_at);
  void collect();

  Clock& clock_;
  std::map<BlobHash, std::string> bytes_;
  std::map<SessionId, std::set<BlobHash>> names_of_;
  std::map<BlobHash, int> names_;  // the number of sessions that reference it
  std::map<BlobHash, Time> pins_;  // of those that are unreferenced or were put recently
  std::set<std::pair<Time, BlobHash>> pins_by_time_;
};

}  // namespace reprise::store
