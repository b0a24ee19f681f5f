#pragma once

// What follows for a run from what its store holds: a store with one session, or a current one,
// goes on with it; one without words needs a provider that has them, and their ids.

#include <filesystem>
#include <optional>
#include <stop_token>

#include "cli/program/context.h"
#include "reprise/conversation.h"
#include "reprise/error.h"
#include "reprise/mode.h"
#include "reprise/provider.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/types.h"

namespace reprise::cli {

// The session that a run goes on with when it is not told otherwise: the only one of a store that
// holds one, the current one where there is one; nullopt for other stores, and while there is none.
Result<std::optional<SessionId>> usual_session(Context& context, Access access);

// The session becomes the current one, where there is such a thing. With `archive` the one before
// is packed away. What fails is a warning.
void make_current(Context& context, Store& store, const SessionId& id, bool archive);

// unsupported when nobody would have the words.
Result<> check_provider_for(const Store& store, const Provider& provider);

// unsupported for a conversation without words and without ids.
Result<> check_can_go_on(const Store& store, const Session& session);

// A new session as a store without words keeps it: its folder when its mode has one, and no
// instructions of a mode, which are read anew each time. They are sent by `options` then.
void leave_out_words(Session& session, const Mode* mode, ConversationOptions& options);

// The instructions of a session that does not keep its own: its mode's, or the settings'. A mode
// that is gone, or whose files are, is a warning.
std::optional<std::string> instructions_of(Context& context, const Session& session,
                                           std::stop_token stop);

}  // namespace reprise::cli
