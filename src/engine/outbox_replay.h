#pragma once

// Delivers the contents of an outbox to a store.
//
//  (1) Each step has the operation id of the original attempt, so a step that has been applied is
//      not applied again. If the store has forgotten the id, the messages at its position are
//      compared.
//  (2) A missing session is created; one that is unchanged since the conversation is continued. If
//      it has other messages now, the steps become a fork at their position, or a new session if
//      the original is gone: nothing is lost or mixed up.

#include "engine/copy.h"
#include "reprise/outbox.h"
#include "reprise/store.h"

namespace reprise {

// After an error, calling this again continues. CopiedSession::detail names the session with the
// steps if it is not their own. unsupported for a store without messages.
Result<CopiedSession> replay_outbox(const OutboxSession& outbox, Store& target);

}  // namespace reprise
