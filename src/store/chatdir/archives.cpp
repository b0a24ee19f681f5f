// The archive and the trash: folders beside the chats. A session is always in exactly one place: it
// is moved to the trash by one rename, and to the archive as in move_journal.h.

#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/reserve.h"
#include "base/text.h"
#include "reprise/types.h"
#include "store/chatdir/chat.h"
#include "store/chatdir/chatdir_store.h"
#include "store/chatdir/chats.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/log_end.h"
#include "store/chatdir/move_journal.h"
#include "store/chatdir/packed_chat.h"
#include "store/rules.h"
#include "store/stored_session.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

// Keeps the older archive, beside the new one, of a chat that was archived before and restored
// without removing its archive.
Result<> link_older(const MovingNames& names) {
  const fs::path older = names.archive / kZipFile;
  REPRISE_TRY(refuse_links(older));
  if (::link(older.c_str(), (names.new_archive / cat(kZipFile, ".bak")).c_str()) != 0 &&
      errno != ENOENT) {
    return std::unexpected(os_error("keep", older, errno));
  }
  return {};
}

Result<LogPoint> point_of_chat(const fs::path& chat) {
  REPRISE_ASSIGN(const auto point, if_exists(point_at_end(chat / kMessagesFile)));
  return point.value_or(LogPoint{});
}

// Moves a session's folder. A chat is locked meanwhile, so that it is not written. A chat without a
// lock file, on a disk too full to create one, has no writer either.
Result<> move_session(Chats& chats, const SessionId& id, const Location& from, const fs::path& to) {
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

Result<Location> find_location(const Chats& chats, const SessionId& id) {
  REPRISE_TRY(check_id(id));
  REPRISE_ASSIGN(auto location, chats.layout().find(id));
  if (!location) {
    return std::unexpected(no_session(id));
  }
  return *std::move(location);
}

}  // namespace

Result<> ChatdirStore::archive(const SessionId& id, Time when) {
  REPRISE_TRY(check_id(id));
  REPRISE_TRY(chats_.recover_moves());
  REPRISE_ASSIGN(const LockFile::Hold hold, chats_.lock());
  const Layout& layout = chats_.layout();
  REPRISE_ASSIGN(const Location location, find_location(chats_, id));
  if (location.area == Area::archive) {
    return {};
  }
  if (location.is_trashed()) {
    return fail(Code::invalid_argument,
                cat("session ", id.str(), " is in the trash: restore it first"));
  }
  REPRISE_ASSIGN(const std::shared_ptr<Chat> chat, chats_.get(id));
  const MovingNames names(layout, id);
  REPRISE_ASSIGN(const FolderMetadata folder, metadata_of_folder(names.chat));
  REPRISE_ASSIGN(const LockFile::Hold chat_hold, chat->lock());
  REPRISE_ASSIGN(const StoredSession session, chat->load_with_lease());
  const auto& answering = session.session.info.answering;
  if (answering && state_of(*answering) != OwnerState::gone) {
    return fail(Code::busy, cat("session ", id.str(), " has a running answer"));
  }
  REPRISE_TRY(remove_tree(names.new_archive));
  REPRISE_TRY(make_private_folders(names.new_archive));
  auto packed = pack_chat({names.chat, folder, session, when}, names.new_archive);
  if (packed) {
    packed = link_older(names);
  }
  if (!packed) {
    (void)remove_tree(names.new_archive);  // incomplete; otherwise, the next archiving removes it
    return packed;
  }
  REPRISE_ASSIGN(const LogPoint log, point_of_chat(names.chat));
  const PendingMove moving{MoveDirection::to_archive, id, log};
  REPRISE_TRY(write_intent(layout, moving));
  return finish(layout, moving);
}

Result<> ChatdirStore::unpack(const SessionId& id) {
  REPRISE_ASSIGN(const LockFile::Hold hold, chats_.lock());
  const Layout& layout = chats_.layout();
  const MovingNames names(layout, id);
  REPRISE_ASSIGN(const Location location, find_location(chats_, id));
  REPRISE_ASSIGN(const bool is_archived, file_exists(names.archive));
  if (location.area != Area::archive && is_archived) {
    return fail(Code::conflict, cat("cannot restore ", names.archive.native(), ": ",
                                    location.folder.native(), " exists, too"));
  }
  if (location.area != Area::archive) {
    return fail(Code::invalid_argument, cat("session ", id.str(), " is not archived"));
  }
  REPRISE_TRY(remove_tree(names.new_chat));
  if (auto unpacked = unpack_chat(names.archive / kZipFile, id, names.new_chat); !unpacked) {
    (void)remove_tree(names.new_chat);  // incomplete; otherwise, the next restoring removes it
    return unpacked;
  }
  const PendingMove moving{MoveDirection::to_chats, id};
  REPRISE_TRY(write_intent(layout, moving));
  return finish(layout, moving);
}

Result<> ChatdirStore::unarchive(const SessionId& id) {
  REPRISE_TRY(check_id(id));
  REPRISE_TRY(chats_.recover_moves());
  REPRISE_TRY(unpack(id));
  return set_current(id);
}

Result<> ChatdirStore::trash(const SessionId& id, Time /*when*/) {
  return with_reserve(chats_.layout().lock_file(), [&] { return trash_now(id); });
}

Result<> ChatdirStore::purge(const SessionId& id) {
  return with_reserve(chats_.layout().lock_file(), [&] { return purge_now(id); });
}

Result<> ChatdirStore::trash_now(const SessionId& id) {
  REPRISE_ASSIGN(const LockFile::Hold hold, chats_.lock());
  REPRISE_ASSIGN(const Location location, find_location(chats_, id));
  if (location.is_trashed()) {
    // An earlier attempt may have moved it and failed to sync.
    REPRISE_TRY(sync_folder(chats_.layout().chats()));
    REPRISE_TRY(sync_folder(chats_.layout().trash()));
    return clear_current(chats_.layout(), id);
  }
  REPRISE_TRY(move_session(chats_, id, location, chats_.layout().trashed(id)));
  return clear_current(chats_.layout(), id);
}

Result<> ChatdirStore::restore(const SessionId& id) {
  REPRISE_ASSIGN(const LockFile::Hold hold, chats_.lock());
  REPRISE_ASSIGN(const Location location, find_location(chats_, id));
  if (!location.is_trashed()) {
    return std::unexpected(not_in_trash(id));
  }
  const Layout& layout = chats_.layout();
  return move_session(chats_, id, location,
                      location.is_packed() ? layout.archive(id) : layout.chat(id));
}

// First hides the session by renaming its folder in place, which is atomic and needs no space. An
// older archive that the chat hides is purged before it, so that it never appears in its place.
Result<> ChatdirStore::purge_now(const SessionId& id) {
  REPRISE_ASSIGN(const LockFile::Hold hold, chats_.lock());
  REPRISE_TRY(check_id(id));
  REPRISE_ASSIGN(const std::vector<Location> locations, chats_.layout().find_all(id));
  if (locations.empty()) {
    return std::unexpected(no_session(id));
  }
  for (auto location = locations.rbegin(); location != locations.rend(); ++location) {
    const fs::path folder = folder_of(location->folder);
    const fs::path removing = folder / cat(kRemovingPrefix, id.str());
    REPRISE_TRY(remove_tree(removing));
    REPRISE_TRY(move_session(chats_, id, *location, removing));
    REPRISE_TRY(clear_current(chats_.layout(), id));
    REPRISE_TRY(remove_tree(removing));
    REPRISE_TRY(sync_folder(folder));
  }
  return {};
}

}  // namespace reprise::store::chatdir
