#pragma once

// The rules of Store::append() and Rewriting::replace_suffix(), for all stores: what may happen as
// the session is now, which places a batch gets, and by which names a database remembers what has
// happened once.

#include "reprise/store.h"

namespace reprise::store {

// The session as the batch finds it.
struct AppendState {
  const SessionId& id;
  Seq head;
  std::optional<std::string_view> answer;  // the name of the running one; "" when it is unreadable
};

// conflict for another head than the one that was expected, and for an answer to be ended that is
// not running; busy for one to begin beside another; invalid_argument for a place beyond the head.
Result<> check_append(const AppendState& now, Seq from, const AppendOptions& options);

// Where a batch of so many messages stands that begins at `first`.
Appended appended_at(Seq first, std::size_t messages);

// In a table of what has happened once: an operation, and a request whose usage was counted.
std::string once_name(const OperationId& operation);
std::string once_name_of_request(std::string_view request_id);

}  // namespace reprise::store
