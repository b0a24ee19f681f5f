#include "store/chatdir/backup.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/text.h"
#include "reprise/error.h"
#include "reprise/open_store.h"
#include "reprise/types.h"
#include "store/chatdir/chats.h"
#include "store/chatdir/current.h"
#include "store/chatdir/file_window.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/log_end.h"
#include "store/chatdir/message_log.h"
#include "store/paths.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

constexpr int kCopiesMax = 20;

// nullopt when there is no such file.
Result<std::optional<std::string>> read_if_there(const fs::path& file) {
  auto bytes = read_file(file);
  if (!bytes && bytes.error().code == Code::not_found) {
    return std::nullopt;
  }
  REPRISE_TRY(bytes);
  return *std::move(bytes);
}

// What is being written right now does not count yet.
Result<> copy_log(const fs::path& from, const fs::path& to) {
  auto opened = MessageLog::open(from / kMessagesFile);
  if (!opened && opened.error().code == Code::not_found) {
    return {};
  }
  REPRISE_ASSIGN(const std::shared_ptr<MessageLog> log, std::move(opened));
  const LogState state = log->state();
  REPRISE_ASSIGN(const bool is_written_to, LockFile::is_held(from / kLockFile));
  const std::int64_t end = is_written_to ? state.end : state.size;
  return replace_file(to / kMessagesFile, [&](int out) {
    FileWindow window(log->fd(), log->file());
    return copy_bytes(window, 0, end, out, to / kMessagesFile);
  });
}

// The record is of one moment when the facts beside it are the same before and after: lines that
// were added meanwhile say themselves what they changed.
Result<> copy_chat(const fs::path& from, const fs::path& to) {
  REPRISE_TRY(copy_other_files(from, to));
  for (int tries = 0; tries < kCopiesMax; ++tries) {
    REPRISE_ASSIGN(const auto before, read_if_there(from / kFactsFile));
    REPRISE_TRY(copy_log(from, to));
    REPRISE_ASSIGN(const auto after, read_if_there(from / kFactsFile));
    if (before == after) {
      return before ? replace_file(to / kFactsFile, *before) : Result<>();
    }
  }
  return fail(Code::busy, cat(from.native(), " changes all the time: try again"));
}

// Whoever makes a backup has its folder until that ends, in whatever way. Where folders cannot be
// locked nobody else's is taken away.
bool take(const Fd& folder) {
  return ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR);
}

// What a process has left that died while it made a backup there.
Result<> remove_abandoned(const fs::path& making) {
  REPRISE_ASSIGN(const bool is_taken, is_there(making));
  if (!is_taken) {
    return {};
  }
  REPRISE_ASSIGN(const Fd folder, open_file(making, O_RDONLY | O_DIRECTORY));
  REPRISE_ASSIGN(const auto entries, list_folder(making));
  const Layout layout(making);
  const bool is_ours = std::ranges::all_of(entries, [&](const fs::directory_entry& entry) {
    return entry.path() == layout.chats() || entry.path() == layout.archives() ||
           entry.path() == layout.trash();
  });
  if (!is_ours || ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) {
    return fail(Code::conflict, cat(making.native(), " exists already: remove it"));
  }
  return remove_tree(making);
}

}  // namespace

Result<> copy_other_files(const fs::path& from, const fs::path& to) {
  REPRISE_TRY(make_private_folders(to));
  REPRISE_ASSIGN(const auto entries, list_folder(from));
  for (const fs::directory_entry& entry : entries) {
    const std::string name = entry.path().filename();
    if (name == kMessagesFile || name == kFactsFile || name == kLockFile) {
      continue;
    }
    REPRISE_ASSIGN(const FileKind kind, kind_of_entry(entry));
    if (kind == FileKind::folder) {
      REPRISE_TRY(copy_other_files(entry.path(), to / name));
    } else if (kind == FileKind::file) {
      REPRISE_ASSIGN(const std::string bytes, read_file(entry.path()));
      REPRISE_TRY(replace_file(to / name, bytes));
    }
  }
  return {};
}

Result<> ChatBackup::copy_all(const Layout& to) {
  for (const Spot spot : {Spot::chats, Spot::archive, Spot::trash}) {
    REPRISE_ASSIGN(const auto all, chats_.layout().list(spot));
    for (const Layout::Listed& listed : all) {
      const fs::path& from = listed.place.folder;
      if (listed.place.is_packed()) {
        const fs::path target =
            listed.place.is_trashed() ? to.trashed(listed.id) : to.archive(listed.id);
        REPRISE_TRY(copy_other_files(from, target));
      } else {
        REPRISE_TRY(copy_chat(
            from, listed.place.is_trashed() ? to.trashed(listed.id) : to.chat(listed.id)));
      }
    }
  }
  // It may be a link, or name no chat.
  const auto current = CurrentChat(chats_).current();
  if (const std::optional<SessionId> id = current ? *current : std::nullopt; id) {
    REPRISE_TRY(replace_file(to.current_file(), id->str()));
  }
  REPRISE_ASSIGN(const auto model, read_if_there(chats_.layout().model_file()));
  return model ? replace_file(to.model_file(), *model) : Result<>();
}

Result<> ChatBackup::backup(const fs::path& named) {
  REPRISE_ASSIGN(const fs::path target, resolve_folder_of(named));
  REPRISE_ASSIGN(const bool is_taken, is_there(target));
  if (is_taken) {
    return fail(Code::conflict, cat(target.native(), " exists already"));
  }
  // Nothing is made, moved or removed meanwhile.
  std::optional<LockFile::Hold> hold;
  if (chats_.settings().access == Access::write) {
    REPRISE_ASSIGN(hold, chats_.lock());
  }
  fs::path making = target;
  making += ".making";
  REPRISE_TRY(remove_abandoned(making));
  REPRISE_TRY(make_private_folders(making));
  REPRISE_ASSIGN(const Fd owner, open_file(making, O_RDONLY | O_DIRECTORY));
  if (!take(owner)) {
    return fail(Code::conflict, cat(making.native(), " is being made by another process"));
  }
  auto done = make_private_folders(Layout(making).chats());
  done = done ? copy_all(Layout(making)) : done;
  done = done ? move_file(making, target) : done;
  if (!done) {
    (void)remove_tree(making);
  }
  return done;
}

}  // namespace reprise::store::chatdir
