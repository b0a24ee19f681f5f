#pragma once

// Writes to a store without messages: the ids of the answers that end turns, in order, each one
// once. Failed writes are retried under the same operation id before the next one.

#include <deque>

#include "reprise/capabilities.h"

namespace reprise {

class ResponseLog {
 public:
  // `responses` must outlive it.
  explicit ResponseLog(Responses& responses) : responses_(responses) {}

  void add(const Message& answer, OperationId operation);
  // Stores pending answers; after an error some are still pending.
  Result<> flush(const Session& session);
  void clear() { waiting_.clear(); }
  bool is_empty() const { return waiting_.empty(); }

 private:
  Responses& responses_;
  std::deque<std::pair<Message, OperationId>> waiting_;
};

}  // namespace reprise
