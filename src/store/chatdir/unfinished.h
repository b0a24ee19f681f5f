#pragma once

// A session is packed away, or unpacked, in two steps: what is made gets its place by one rename,
// then what it replaces goes. In between archive/.doing says what is going on. Whoever comes after
// a crash finishes it; nobody writes into the chat before that.

#include <filesystem>
#include <vector>

#include "reprise/types.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/message_log.h"

namespace reprise::store::chatdir {

enum class Moving : std::uint8_t { to_archive, to_chats };

struct Unfinished {
  Moving moving = Moving::to_archive;
  SessionId id;
  LogPoint log = {};  // of the chat that was packed
};

// The names under which things are made and taken away.
struct MovingNames {
  MovingNames(const Layout& layout, const SessionId& id);

  std::filesystem::path doing;
  std::filesystem::path chat;
  std::filesystem::path archive;
  std::filesystem::path new_chat;
  std::filesystem::path new_archive;
  std::filesystem::path leaving;
};

// Says that what is made is complete and on disk. From here on it can be finished.
Result<> announce(const Layout& layout, const Unfinished& unfinished);

// nullopt when nothing is going on. The store's lock need not be held.
Result<std::optional<Unfinished>> find_unfinished(const Layout& layout);

// Folders in the making that nobody will finish, with messages of sessions that are nowhere else.
// Empty while somebody is at it.
Result<std::vector<std::filesystem::path>> find_stranded(const Layout& layout);

// Removes what nobody will finish and nobody needs: folders in the making, and those on their way
// out. The store's lock is held, and what was interrupted is finished.
Result<> remove_stranded(const Layout& layout);

// Puts in place what was made, removes what it replaces. The store's lock is held. A chat that was
// changed after it was packed stays, beside the archive; so does one that another program made
// where it was to be unpacked.
Result<> finish(const Layout& layout, const Unfinished& unfinished);

// The same for what find_unfinished() finds. A file that does not say what was going on is kept
// aside: the chat is whole in one place at least.
Result<> finish_interrupted(const Layout& layout);

}  // namespace reprise::store::chatdir
