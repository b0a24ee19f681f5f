#pragma once

// DIR/chat/current, and DIR/chat/llimo.json beside it: the chat that programs go on with, and the
// model that all of them use.

#include "reprise/types.h"
#include "store/chatdir/layout.h"

namespace reprise::store::chatdir {

// The chat that is the current one; nullopt when there is none.
Result<std::optional<SessionId>> find_current(const Layout& layout);

// Ends that a chat is the current one, when it is. The store's lock is held.
Result<> clear_current(const Layout& layout, const SessionId& id);

// Makes a chat the current one, also one that is on its way to its place. The store's lock is held.
Result<> name_current(const Layout& layout, const SessionId& id);

}  // namespace reprise::store::chatdir
