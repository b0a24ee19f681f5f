#pragma once

// Writing messages: at the end, or in place of a suffix. Inside the caller's transaction.

#include "reprise/store.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

// A batch, made ready once: the JSON is written before the lock is taken.
struct Batch {
  const std::vector<Message>& messages;
  const AppendOptions& options;
  std::vector<std::string> contents;
};
Batch make_batch(const std::vector<Message>& messages, const AppendOptions& options);

Result<Appended> append_messages(Connection& connection, const SessionId& id, const Batch& batch);
Result<Appended> replace_messages(Connection& connection, const SessionId& id, Seq from,
                                  const Batch& batch);

// The session's name for the blobs that these blocks show.
Result<> name_blobs(Connection& connection, const SessionId& id, const std::vector<Block>& blocks);

}  // namespace reprise::sqlite
