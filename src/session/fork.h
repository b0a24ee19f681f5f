#pragma once

// Forks whose history goes on with other messages than their parent's.

#include <vector>

#include "reprise/sessions.h"

namespace reprise {

// fork_session(), and then an append of these messages. In a store with Forking these are two
// steps; if the second one fails, the fork is removed.
Result<SessionId> fork_session_with(Store& store, const ForkRequest& request,
                                    std::vector<Message> messages, Clock& clock, Entropy& entropy);

}  // namespace reprise
