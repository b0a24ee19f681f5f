#pragma once

// DIR/chat/current and DIR/chat/llimo.json: the chat that programs continue by default, and the
// model that they all use.

#include "reprise/types.h"
#include "store/chatdir/layout.h"

namespace reprise::store::chatdir {

// The current chat; nullopt if there is none.
Result<std::optional<SessionId>> find_current(const Layout& layout);

// Clears the current chat if it is `id`. The caller holds the store's lock.
Result<> clear_current(const Layout& layout, const SessionId& id);

// Makes a chat the current one, even while it is being moved. The caller holds the store's lock.
Result<> name_current(const Layout& layout, const SessionId& id);

}  // namespace reprise::store::chatdir
