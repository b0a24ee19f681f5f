// The trash: a folder beside the chats. A session is in exactly one place, because it gets there
// by one rename.

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/text.h"
#include "reprise/error.h"
#include "reprise/types.h"
#include "store/chatdir/chats.h"
#include "store/chatdir/current.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/offers.h"
#include "store/facts.h"
#include "store/paths.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLeaving = ".leaving-";

// Moves a session's folder. A chat is locked meanwhile: nobody writes into it.
Result<> move_session(Chats& chats, const SessionId& id, const Place& from, const fs::path& to) {
  std::optional<LockFile::Hold> hold;
  if (!from.is_packed()) {
    const auto chat = chats.get(id);
    REPRISE_TRY(chat);
    REPRISE_ASSIGN(hold, (*chat)->lock());
    REPRISE_TRY(make_private_folders(folder_of(to)));
    return move_file(from.folder, to);
  }
  REPRISE_TRY(make_private_folders(folder_of(to)));
  return move_file(from.folder, to);
}

Result<Place> find(const Chats& chats, const SessionId& id) {
  REPRISE_TRY(check_id(id));
  REPRISE_ASSIGN(auto place, chats.layout().find(id));
  if (!place) {
    return std::unexpected(no_session(id));
  }
  return *std::move(place);
}

// What a purge could not finish.
void sweep(const fs::path& trash) {
  const auto entries = list_if_there(trash);
  if (!entries) {
    return;  // the purge says why
  }
  for (const fs::directory_entry& entry : *entries) {
    if (entry.path().filename().native().starts_with(kLeaving)) {
      (void)remove_tree(entry.path());  // the next purge tries again
    }
  }
}

}  // namespace

Result<> ChatTrash::trash(const SessionId& id, Time /*when*/) {
  REPRISE_ASSIGN(const LockFile::Hold hold, chats_.lock());
  REPRISE_ASSIGN(const Place place, find(chats_, id));
  if (place.is_trashed()) {
    // A try before may have moved it and could not sync.
    REPRISE_TRY(sync_folder(chats_.layout().chats()));
    REPRISE_TRY(sync_folder(chats_.layout().trash()));
    return clear_current(chats_.layout(), id);
  }
  REPRISE_TRY(move_session(chats_, id, place, chats_.layout().trashed(id)));
  return clear_current(chats_.layout(), id);
}

Result<> ChatTrash::restore(const SessionId& id) {
  REPRISE_ASSIGN(const LockFile::Hold hold, chats_.lock());
  REPRISE_ASSIGN(const Place place, find(chats_, id));
  if (!place.is_trashed()) {
    return fail(Code::invalid_argument, cat("session ", id.str(), " is not in the trash"));
  }
  const Layout& layout = chats_.layout();
  return move_session(chats_, id, place, place.is_packed() ? layout.archive(id) : layout.chat(id));
}

Result<> ChatTrash::purge(const SessionId& id) {
  REPRISE_ASSIGN(const LockFile::Hold hold, chats_.lock());
  REPRISE_ASSIGN(const Place place, find(chats_, id));
  const fs::path leaving = chats_.layout().trash() / cat(kLeaving, id.str());
  sweep(chats_.layout().trash());
  REPRISE_TRY(move_session(chats_, id, place, leaving));
  REPRISE_TRY(clear_current(chats_.layout(), id));
  REPRISE_TRY(remove_tree(leaving));
  return sync_folder(chats_.layout().trash());
}

}  // namespace reprise::store::chatdir
