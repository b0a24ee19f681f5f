#pragma once

// A session is archived or restored in two steps: one rename moves the new folder into place, then
// the old one is removed. In between, archive/.doing records the move. After a crash, the next
// process finishes it; until then, nobody writes to the chat.

#include <filesystem>
#include <vector>

#include "reprise/types.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/message_log.h"

namespace reprise::store::chatdir {

enum class MoveDirection : std::uint8_t { to_archive, to_chats };

struct PendingMove {
  MoveDirection direction = MoveDirection::to_archive;
  SessionId id;
  LogPoint log = {};  // of the archived chat
};

// The names of the folders while they are created and removed.
struct MovingNames {
  MovingNames(const Layout& layout, const SessionId& id);

  std::filesystem::path journal;
  std::filesystem::path chat;
  std::filesystem::path archive;
  std::filesystem::path new_chat;
  std::filesystem::path new_archive;
  std::filesystem::path removing;
};

// Records that the new folder is complete and durable. From here on, the move can be finished.
Result<> write_intent(const Layout& layout, const PendingMove& pending);

// nullopt if no move is in progress. Does not require the store's lock.
Result<std::optional<PendingMove>> find_pending_move(const Layout& layout);

struct Orphans {
  // Abandoned new folders with messages of sessions that exist nowhere else.
  std::vector<std::filesystem::path> sessions;
  // Folders whose removal was interrupted.
  std::vector<std::filesystem::path> removals;
};
// Empty while a move is in progress.
Result<Orphans> find_orphans(const Layout& layout);

// Removes abandoned folders that were being created or removed and are not needed. The caller holds
// the store's lock, and interrupted moves are finished.
Result<> remove_orphans(const Layout& layout);

// Moves the new folder into place and removes the one that it replaces. The caller holds the
// store's lock. A chat that was changed after it was archived remains beside the archive, as does
// one that another program created in the place of a restored one.
Result<> finish(const Layout& layout, const PendingMove& pending);

// The same for the move that find_pending_move() returns. A move file that cannot be read is
// quarantined: the chat is complete in at least one place.
Result<> recover_move(const Layout& layout);

}  // namespace reprise::store::chatdir
