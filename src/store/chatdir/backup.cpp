// A snapshot of a whole chat directory while others continue to write: the state at one moment is
// recorded as the identities of its files. Takes no locks, because the directory may be read-only.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <system_error>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/text.h"
#include "reprise/types.h"
#include "store/chatdir/chatdir_store.h"
#include "store/chatdir/chats.h"
#include "store/chatdir/file_window.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/log_end.h"
#include "store/chatdir/message_log.h"
#include "store/paths.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

constexpr int kAttemptsMax = 200;

// A chat or an archive. Since messages are appended, later ones are recognised by the size that the
// file had.
struct ChatSnapshot {
  Layout::Listed listed;
  std::optional<FileIdentity> record;    // messages.jsonl, or chat.zip
  std::optional<FileIdentity> metadata;  // reprise.json, or chat.json
  std::optional<ino_t> answer;           // of the running answer
  std::string metadata_bytes = {};       // only for a chat that changes constantly

  friend bool operator==(const ChatSnapshot& a, const ChatSnapshot& b) {
    return a.listed.location.folder == b.listed.location.folder && a.record == b.record &&
           a.metadata == b.metadata && a.answer == b.answer;
  }
};

struct Snapshot {
  std::map<std::filesystem::path, ChatSnapshot> chats;  // by folder
  std::optional<SessionId> current;
  std::optional<std::string> model;  // the bytes of llimo.json
  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

Result<ChatSnapshot> identify_chat(const Layout::Listed& listed) {
  const bool is_packed = listed.location.is_packed();
  const fs::path& folder = listed.location.folder;
  ChatSnapshot chat{.listed = listed, .record = {}, .metadata = {}, .answer = {}};
  REPRISE_ASSIGN(chat.record, if_exists(identify(folder / (is_packed ? kZipFile : kMessagesFile))));
  REPRISE_ASSIGN(chat.metadata,
                 if_exists(identify(folder / (is_packed ? kZipMetadataFile : kMetadataFile))));
  REPRISE_ASSIGN(const auto answer, if_exists(identify(folder / kAnswerFile)));
  chat.answer = answer ? std::optional(answer->inode) : std::nullopt;
  return chat;
}

Result<Snapshot> identify_all(Chats& chats, const std::set<fs::path>& busy) {
  Snapshot snapshot;
  REPRISE_ASSIGN(const auto sessions, chats.layout().list_all());
  for (const Layout::Listed& listed : sessions) {
    REPRISE_ASSIGN(ChatSnapshot chat, identify_chat(listed));
    if (busy.contains(listed.location.folder)) {
      chat.metadata_bytes = read_file(listed.location.folder / kMetadataFile).value_or("");
    }
    snapshot.chats.emplace(listed.location.folder, std::move(chat));
  }
  // Errors are ignored: it may be a link, or not name a chat.
  const auto current = find_current(chats.layout());
  snapshot.current = current ? *current : std::nullopt;
  REPRISE_ASSIGN(snapshot.model, if_exists(read_file(chats.layout().model_file())));
  return snapshot;
}

// Two identical listings mean that nothing changed in between. The metadata of the `busy` chats is
// read here, because it would change again before it is copied. busy if everything changes too
// fast.
Result<Snapshot> take_snapshot(Chats& chats, const std::set<fs::path>& busy) {
  std::optional<Snapshot> last;
  for (int attempts = 0; attempts < kAttemptsMax; ++attempts) {
    REPRISE_ASSIGN(Snapshot now, identify_all(chats, busy));
    if (last == now) {
      return *std::move(last);  // the metadata was read between the two listings
    }
    last = std::move(now);
  }
  return fail(Code::busy,
              cat(chats.layout().root().native(), " changes faster than it can be copied"));
}

constexpr int kSnapshotsMax = 50;

// Copies the messages that existed at that moment. false if they no longer exist.
Result<bool> copy_log(const fs::path& from, const FileIdentity& record, const fs::path& to) {
  REPRISE_ASSIGN(const Fd file, open_regular(from / kMessagesFile));
  REPRISE_ASSIGN(const struct stat status, status_of(file.get(), from / kMessagesFile));
  if (status.st_ino != record.inode || status.st_size < record.size) {
    return false;
  }
  const fs::path copy = to / kMessagesFile;
  REPRISE_TRY(replace_file(copy, [&](int out) {
    FileWindow window(file.get(), from / kMessagesFile);
    return copy_bytes(window, 0, record.size, out, copy);
  }));
  REPRISE_ASSIGN(const bool is_written_to, LockFile::is_held(from / kLockFile));
  REPRISE_ASSIGN(const FileIdentity now, identify(from / kMessagesFile));
  if (now.inode != record.inode) {
    return false;
  }
  if (is_written_to || now != record) {
    // Removes a batch that was being written.
    REPRISE_ASSIGN(const std::shared_ptr<MessageLog> log, MessageLog::open(copy));
    REPRISE_TRY(log->truncate_torn_tail());
  }
  return true;
}

// The record is of that moment; other files, above all artefacts, are of the same or a later one.
Result<bool> copy_parts(const ChatSnapshot& chat, const fs::path& to) {
  const fs::path& from = chat.listed.location.folder;
  REPRISE_TRY(remove_tree(to));
  REPRISE_TRY(copy_other_files(from, to));
  if (!chat.listed.location.is_packed()) {
    if (chat.record) {
      REPRISE_ASSIGN(const bool copied, copy_log(from, *chat.record, to));
      if (!copied) {
        return false;
      }
    }
    if (chat.metadata) {
      REPRISE_ASSIGN(const std::string metadata, chat.metadata_bytes.empty()
                                                     ? read_file(from / kMetadataFile)
                                                     : Result<std::string>(chat.metadata_bytes));
      REPRISE_TRY(replace_file(to / kMetadataFile, metadata));
    }
  }
  // Messages may have been appended since; the copy does not include them.
  REPRISE_ASSIGN(const ChatSnapshot now, identify_chat(chat.listed));
  return (now.metadata == chat.metadata || !chat.metadata_bytes.empty()) &&
         (now.answer == chat.answer || !chat.answer) &&
         (now.record == chat.record || !chat.listed.location.is_packed());
}

// false if the chat has changed since that moment.
Result<bool> copy_chat(const ChatSnapshot& chat, const fs::path& to) {
  auto copied = copy_parts(chat, to);
  if (copied) {
    return copied;
  }
  REPRISE_ASSIGN(const ChatSnapshot now, identify_chat(chat.listed));
  return now == chat ? copied : Result<bool>(false);
}

// The copied chats, and those that changed while they were copied.
struct CopiedChats {
  std::map<fs::path, ChatSnapshot> chats = {};
  std::set<fs::path> busy = {};
};

// Updates the copy to another snapshot. false if a part of the directory changed meanwhile.
Result<bool> copy_snapshot(const Chats& chats, const Snapshot& snapshot, const Layout& to,
                           CopiedChats& done_before) {
  auto& copied = done_before.chats;
  for (const auto& [folder, chat] : copied) {
    if (!snapshot.chats.contains(folder)) {
      REPRISE_TRY(remove_tree(to.folder_for(chat.listed.id, chat.listed.location)));
    }
  }
  std::erase_if(copied, [&](const auto& chat) {
    const auto now = snapshot.chats.find(chat.first);
    return now == snapshot.chats.end() || now->second != chat.second;
  });
  for (const auto& [folder, chat] : snapshot.chats) {
    chats.report_progress("backing up", static_cast<std::int64_t>(copied.size()),
                          snapshot.chats.size());
    if (!copied.contains(folder)) {
      REPRISE_ASSIGN(const bool done,
                     copy_chat(chat, to.folder_for(chat.listed.id, chat.listed.location)));
      if (done) {
        copied.emplace(folder, chat);
      } else {
        done_before.busy.insert(folder);
      }
    }
  }
  chats.report_progress("backing up", static_cast<std::int64_t>(copied.size()),
                        snapshot.chats.size());
  return copied.size() == snapshot.chats.size();
}

// Takes the lock of an unfinished folder, which ends with the process. If the file system has no
// locks, no other process's folder is removed.
bool lock_folder(const Fd& folder) {
  return ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR);
}

// Removes what a process left that died while it created a directory.
Result<> remove_abandoned(const fs::path& unfinished) {
  REPRISE_ASSIGN(const bool exists, file_exists(unfinished));
  if (!exists) {
    return {};
  }
  REPRISE_ASSIGN(const Fd folder, open_file(unfinished, O_RDONLY | O_DIRECTORY));
  REPRISE_ASSIGN(const auto entries, list_folder(unfinished));
  const Layout layout(unfinished);
  const bool is_ours = std::ranges::all_of(entries, [&](const fs::directory_entry& entry) {
    return entry.path() == layout.chats() || entry.path() == layout.archives() ||
           entry.path() == layout.trash();
  });
  if (!is_ours || ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) {
    return fail(Code::conflict, cat(unfinished.native(), " already exists: remove it"));
  }
  return remove_tree(unfinished);
}

// Links are copied as such, and not followed.
Result<> copy_link(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy_symlink(from, to, error);
  return error ? std::unexpected(os_error("copy", from, error.value())) : Result<>();
}

// Skips what cannot be read if its damage can be reported.
Result<> add_unreadable(const fs::path& path, Error error, std::vector<Damage>* damage) {
  if (damage == nullptr) {
    return std::unexpected(std::move(error));
  }
  damage->push_back({path.native(), std::move(error.message), ""});
  return {};
}

Result<> copy_file(const fs::path& from, const fs::path& to, std::vector<Damage>* damage) {
  auto bytes = read_file(from);
  return bytes ? replace_file(to, *bytes) : add_unreadable(from, std::move(bytes).error(), damage);
}

// Copies the files of a folder and those below it, without the omitted ones of the folder itself.
Result<> copy_files(const fs::path& from, const fs::path& to,
                    std::span<const std::string_view> omitted, std::vector<Damage>* damage) {
  REPRISE_TRY(make_private_folders(to));
  auto entries = list_folder(from);
  if (!entries) {
    return add_unreadable(from, std::move(entries).error(), damage);
  }
  for (const fs::directory_entry& entry : *entries) {
    const std::string name = entry.path().filename();
    if (std::ranges::find(omitted, name) != omitted.end()) {
      continue;
    }
    REPRISE_ASSIGN(const FileKind kind, kind_of_entry(entry));
    if (kind == FileKind::folder) {
      REPRISE_TRY(copy_files(entry.path(), to / name, {}, damage));
    } else if (kind == FileKind::file) {
      REPRISE_TRY(copy_file(entry.path(), to / name, damage));
    } else if (kind == FileKind::link) {
      REPRISE_TRY(copy_link(entry.path(), to / name));
    } else if (kind != FileKind::none) {
      REPRISE_TRY(
          add_unreadable(entry.path(),
                         {Code::unsupported, cat("cannot copy ", entry.path().native(),
                                                 ": it is a pipe or a device; move it away first")},
                         damage));
    }
  }
  return {};
}

}  // namespace

Result<> copy_other_files(const fs::path& from, const fs::path& to, std::vector<Damage>* damage) {
  return copy_files(from, to, std::array{kMessagesFile, kMetadataFile, kLockFile}, damage);
}

Result<> copy_folder(const fs::path& from, const fs::path& to) {
  return copy_files(from, to, {}, nullptr);
}

Result<> create_directory(const fs::path& target,
                          const std::function<Result<>(const Layout&)>& fill) {
  REPRISE_TRY(check_new(target));
  const fs::path unfinished = beside(target, ".making");
  REPRISE_TRY(remove_abandoned(unfinished));
  REPRISE_TRY(make_private_folders(unfinished));
  REPRISE_ASSIGN(const Fd owner, open_file(unfinished, O_RDONLY | O_DIRECTORY));
  if (!lock_folder(owner)) {
    return fail(Code::conflict, cat(unfinished.native(), " is being created by another process"));
  }
  const Layout layout(unfinished);
  auto done = make_private_folders(layout.chats());
  done = done ? fill(layout) : done;
  done = done ? move_file(unfinished, target) : done;
  if (!done) {
    (void)remove_tree(unfinished);
    // The user knows the target, not the folder that becomes it.
    std::string& message = done.error().message;
    for (std::size_t at = 0; (at = message.find(unfinished.native(), at)) != std::string::npos;) {
      message.replace(at, unfinished.native().size(), target.native());
    }
  }
  return done;
}

// Copies only what has changed since the previous attempt, so that large directories converge, too.
Result<> ChatdirStore::copy_all(const Layout& to) {
  CopiedChats copied;
  for (int tries = 0; tries < kSnapshotsMax; ++tries) {
    REPRISE_ASSIGN(const Snapshot snapshot, take_snapshot(chats_, copied.busy));
    REPRISE_ASSIGN(const bool is_complete, copy_snapshot(chats_, snapshot, to, copied));
    if (!is_complete) {
      continue;
    }
    if (snapshot.current) {
      REPRISE_TRY(replace_file(to.current_file(), snapshot.current->str()));
    }
    return snapshot.model ? replace_file(to.model_file(), *snapshot.model) : Result<>();
  }
  return fail(Code::busy, cat(chats_.layout().root().native(),
                              " changes faster than it can be copied: try again"));
}

Result<> ChatdirStore::backup(const fs::path& named) {
  REPRISE_ASSIGN(const fs::path target, resolve_folder_of(named));
  REPRISE_TRY(chats_.recover_moves());
  return create_directory(target, [this](const Layout& to) { return copy_all(to); });
}

}  // namespace reprise::store::chatdir
