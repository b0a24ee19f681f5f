#pragma once

// Writes messages, at the end or instead of a suffix. Inside the caller's transaction.

#include "reprise/store.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

// A batch, prepared once: the JSON is encoded before the lock is taken.
struct Batch {
  const std::vector<Message>& messages;
  const AppendOptions& options;
  std::vector<std::string> contents;
};
Batch make_batch(const std::vector<Message>& messages, const AppendOptions& options);

Result<Appended> append_messages(Connection& connection, const SessionId& id, const Batch& batch);
Result<Appended> replace_messages(Connection& connection, const SessionId& id, Seq from,
                                  const Batch& batch);

// Records the session's references to the blobs of these blocks.
Result<> name_blobs(Connection& connection, const SessionId& id, const std::vector<Block>& blocks);

}  // namespace reprise::sqlite
