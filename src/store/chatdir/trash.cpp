// The trash: a folder beside the chats. A session is always in exactly one place, because it is
// moved by one rename.

#include "base/file.h"
#include "base/lock_file.h"
#include "base/reserve.h"
#include "base/text.h"
#include "reprise/types.h"
#include "store/chatdir/chat.h"
#include "store/chatdir/chatdir_store.h"
#include "store/chatdir/chats.h"
#include "store/chatdir/current.h"
#include "store/chatdir/layout.h"
#include "store/paths.h"
#include "store/rules.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

// Moves a session's folder. A chat is locked meanwhile, so that it is not written. A chat without a
// lock file, on a disk too full to create one, has no writer either.
Result<> move_session(Chats& chats, const SessionId& id, const Place& from, const fs::path& to) {
  std::optional<LockFile::Hold> hold;
  if (!from.is_packed()) {
    const auto chat = chats.get(id);
    REPRISE_TRY(chat);
    auto locked = (*chat)->lock();
    if (!locked && !is_disk_full(locked.error())) {
      return std::unexpected(std::move(locked).error());
    }
    if (locked) {
      hold = *std::move(locked);
    }
  }
  REPRISE_TRY(make_private_folders(folder_of(to)));
  return move_file(from.folder, to);
}

Result<Place> find_place(const Chats& chats, const SessionId& id) {
  REPRISE_TRY(check_id(id));
  REPRISE_ASSIGN(auto place, chats.layout().find(id));
  if (!place) {
    return std::unexpected(no_session(id));
  }
  return *std::move(place);
}

}  // namespace

Result<> ChatdirStore::trash(const SessionId& id, Time /*when*/) {
  return with_reserve(chats_.layout().lock_file(), [&] { return trash_now(id); });
}

Result<> ChatdirStore::purge(const SessionId& id) {
  return with_reserve(chats_.layout().lock_file(), [&] { return purge_now(id); });
}

Result<> ChatdirStore::trash_now(const SessionId& id) {
  REPRISE_ASSIGN(const LockFile::Hold hold, chats_.lock());
  REPRISE_ASSIGN(const Place place, find_place(chats_, id));
  if (place.is_trashed()) {
    // An earlier attempt may have moved it and failed to sync.
    REPRISE_TRY(sync_folder(chats_.layout().chats()));
    REPRISE_TRY(sync_folder(chats_.layout().trash()));
    return clear_current(chats_.layout(), id);
  }
  REPRISE_TRY(move_session(chats_, id, place, chats_.layout().trashed(id)));
  return clear_current(chats_.layout(), id);
}

Result<> ChatdirStore::restore(const SessionId& id) {
  REPRISE_ASSIGN(const LockFile::Hold hold, chats_.lock());
  REPRISE_ASSIGN(const Place place, find_place(chats_, id));
  if (!place.is_trashed()) {
    return std::unexpected(not_in_trash(id));
  }
  const Layout& layout = chats_.layout();
  return move_session(chats_, id, place, place.is_packed() ? layout.archive(id) : layout.chat(id));
}

// First hides the session by renaming its folder in place, which is atomic and needs no space. An
// older archive that the chat hides is purged before it, so that it never appears in its place.
Result<> ChatdirStore::purge_now(const SessionId& id) {
  REPRISE_ASSIGN(const LockFile::Hold hold, chats_.lock());
  REPRISE_TRY(check_id(id));
  REPRISE_ASSIGN(const std::vector<Place> places, chats_.layout().find_all(id));
  if (places.empty()) {
    return std::unexpected(no_session(id));
  }
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    const fs::path folder = folder_of(place->folder);
    const fs::path leaving = folder / cat(kLeaving, id.str());
    REPRISE_TRY(remove_tree(leaving));
    REPRISE_TRY(move_session(chats_, id, *place, leaving));
    REPRISE_TRY(clear_current(chats_.layout(), id));
    REPRISE_TRY(remove_tree(leaving));
    REPRISE_TRY(sync_folder(folder));
  }
  return {};
}

}  // namespace reprise::store::chatdir
