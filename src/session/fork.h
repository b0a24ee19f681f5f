#pragma once

// Forks whose history goes on with other messages than their parent's; forks and rewinds that are
// retried.

#include <vector>

#include "reprise/sessions.h"

namespace reprise {

// fork_session(), and then an append of these messages. In a store with Forking these are two
// steps; if the second one fails, the fork is removed.
Result<SessionId> fork_session_with(Store& store, const ForkRequest& request,
                                    std::vector<Message> messages, Clock& clock, Entropy& entropy);

// fork_session() and rewind_session(), once for each operation: the fork's id is derived from it
// (see session/append.h), and a retry returns it again. conflict if that is another session.
Result<SessionId> fork_session_once(Store& store, const ForkRequest& request,
                                    const OperationId& operation, Clock& clock);
Result<> rewind_session_once(Store& store, const SessionId& id, std::int64_t turns,
                             const OperationId& operation);

}  // namespace reprise
