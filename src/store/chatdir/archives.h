#pragma once

// Packing chats away and getting them back. A session is in one place at any time (unfinished.h).

#include "reprise/error.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"
#include "store/chatdir/chats.h"

namespace reprise::store::chatdir {

class ChatArchives final : public Archives {
 public:
  explicit ChatArchives(Chats& chats) : chats_(chats) {}
  Result<> archive(const SessionId& id, Time when) override;
  // The session becomes the current one.
  Result<> restore(const SessionId& id) override;

 private:
  Result<> unpack(const SessionId& id);

  Chats& chats_;
};

}  // namespace reprise::store::chatdir
