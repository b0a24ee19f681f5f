#pragma once

// DIR/chat/current, and DIR/chat/llimo.json beside it: the chat that programs go on with, and the
// model that all of them use.

#include <optional>

#include "reprise/error.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"
#include "store/chatdir/chats.h"
#include "store/chatdir/layout.h"

namespace reprise::store::chatdir {

// Ends that a chat is the current one, when it is. The store's lock is held.
Result<> clear_current(const Layout& layout, const SessionId& id);

// Makes a chat the current one, also one that is on its way to its place. The store's lock is held.
Result<> name_current(const Layout& layout, const SessionId& id);

class CurrentChat final : public CurrentSession {
 public:
  explicit CurrentChat(Chats& chats) : chats_(chats) {}
  Result<std::optional<SessionId>> current() override;
  Result<> set_current(const std::optional<SessionId>& id) override;

 private:
  Result<> write_model(const SessionId& id);

  Chats& chats_;
};

}  // namespace reprise::store::chatdir
