#pragma once

// The rules of Store::append() and Rewriting::replace_suffix() for all stores: whether a write is
// allowed in the session's current state, the positions that a batch gets, and the keys of a
// database's table of completed operations.

#include "reprise/store.h"

namespace reprise::store {

// The state of the session before the batch.
struct AppendState {
  const SessionId& id;
  Seq head;
  std::optional<std::string_view> answer;  // the id of the running one; "" if it is unreadable
};

// conflict if the head is not the expected one, or if the answer to be ended is not running; busy
// if an answer would begin while another is running; invalid_argument for a position beyond the
// head; unsupported if the head would exceed kSeqMax; corrupt if it already does.
Result<> check_append(const AppendState& now, Seq from, std::size_t messages,
                      const AppendOptions& options);

// The positions of a batch of `messages` messages that begins at `first`.
Appended appended_at(Seq first, std::size_t messages);

// Keys in the table of completed operations: an operation, and a request whose usage was counted.
std::string once_name(const OperationId& operation);
std::string once_name_of_request(std::string_view request_id);

}  // namespace reprise::store
