#pragma once

// Bringing what a conversation could not store into a store.
//
//  (1) Each step has the name that it had when it was tried, so what has happened already, now or
//      then, does not happen again. Where the store has forgotten the name, the messages that
//      stand in their place tell.
//  (2) A session that is not there is created; one that stands where the conversation left it is
//      continued. When it has gone on without these steps they become a fork at their place, and
//      when it is gone a session of their own: nothing is lost or mixed up.

#include "engine/copy.h"
#include "reprise/outbox.h"
#include "reprise/store.h"

namespace reprise {

// An Error: it stopped in between; bringing it in again goes on. CopiedSession::detail says which
// session has the steps when it is not their own. unsupported for a store that keeps no words.
Result<CopiedSession> replay_outbox(const OutboxSession& outbox, Store& target);

}  // namespace reprise
