#include "store/chatdir/move_journal.h"

#include "base/file.h"
#include "base/json_view.h"
#include "base/json_write.h"
#include "base/lock_file.h"
#include "base/text.h"
#include "reprise/types.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/log_end.h"
#include "store/paths.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNew = ".new-";
constexpr std::string_view kToArchive = "archive";
constexpr std::string_view kToChats = "restore";
constexpr std::int64_t kJournalBytesMax = 65536;

fs::path journal_file(const Layout& layout) {
  return layout.archives() / ".doing";
}

Result<> remove_marker(const MovingNames& names) {
  REPRISE_TRY(remove_tree(names.removing));
  REPRISE_TRY(remove_if_exists(names.journal));
  return sync_folder(folder_of(names.journal));
}

Result<> move_to_leaving(const MovingNames& names, const fs::path& folder) {
  REPRISE_ASSIGN(const bool has_folder, file_exists(folder));
  if (!has_folder) {
    return {};
  }
  REPRISE_TRY(remove_tree(names.removing));
  return move_file(folder, names.removing);
}

Result<bool> is_changed(const MovingNames& names, const LogPoint& packed) {
  const auto now = point_at_end(names.chat / kMessagesFile);
  if (!now && now.error().code == Code::io) {
    return std::unexpected(now.error());  // unknown whether it changed
  }
  return now ? *now != packed : now.error().code != Code::not_found;
}

Result<> finish_packing(const Layout& layout, const PendingMove& packed) {
  const MovingNames names(layout, packed.id);
  REPRISE_ASSIGN(const bool has_new, file_exists(names.new_archive));
  if (has_new) {
    // The new archive already includes an older one of the same chat.
    REPRISE_TRY(move_to_leaving(names, names.archive));
    REPRISE_TRY(move_file(names.new_archive, names.archive));
  }
  REPRISE_ASSIGN(const bool has_chat, file_exists(names.chat));
  REPRISE_ASSIGN(const bool was_changed,
                 has_chat ? is_changed(names, packed.log) : Result<bool>(false));
  if (!was_changed) {
    REPRISE_TRY(move_to_leaving(names, names.chat));
    REPRISE_TRY(clear_current(layout, packed.id));
  }
  return remove_marker(names);
}

Result<> finish_unpacking(const Layout& layout, const SessionId& id) {
  const MovingNames names(layout, id);
  REPRISE_ASSIGN(const bool has_new, file_exists(names.new_chat));
  REPRISE_ASSIGN(const bool has_chat, file_exists(names.chat));
  if (has_new && has_chat) {
    REPRISE_TRY(remove_marker(names));
    return remove_tree(names.new_chat);
  }
  if (has_new) {
    // While the named chat is in the archive, no chat is current; the rename makes it current
    // atomically.
    REPRISE_TRY(name_current(layout, id));
    REPRISE_TRY(move_file(names.new_chat, names.chat));
  }
  if (has_new || has_chat) {
    REPRISE_TRY(move_to_leaving(names, names.archive));
  }
  return remove_marker(names);
}

}  // namespace

MovingNames::MovingNames(const Layout& layout, const SessionId& id)
    : journal(journal_file(layout)),
      chat(layout.chat(id)),
      archive(layout.archive(id)),
      new_chat(layout.chats() / cat(kNew, id.str())),
      new_archive(layout.archives() / cat(kNew, id.str())),
      removing(layout.archives() / cat(kRemovingPrefix, id.str())) {}

Result<> write_intent(const Layout& layout, const PendingMove& pending) {
  return replace_file(
      journal_file(layout),
      json::object_of("do", pending.direction == MoveDirection::to_archive ? kToArchive : kToChats,
                      "id", pending.id.str(), "end", pending.log.end, "tail",
                      std::to_string(pending.log.tail)));
}

Result<std::optional<PendingMove>> find_pending_move(const Layout& layout) {
  REPRISE_ASSIGN(const auto bytes, if_exists(read_file(journal_file(layout), kJournalBytesMax)));
  if (!bytes) {
    return std::nullopt;
  }
  const auto [action, name, tail, end] = JsonView(*bytes).members({"do", "id", "tail", "end"});
  auto id = SessionId::parse(name.text());
  const auto hash = parse_number<std::uint64_t>(tail.text());
  const auto log_end = json::integer_in(end.raw());
  const std::string direction = action.text();
  if (!is_json_object(*bytes) || !id || !check_id(*id) || !hash || (!log_end && end) ||
      (direction != kToArchive && direction != kToChats)) {
    return fail(Code::corrupt,
                cat(journal_file(layout).native(), " does not say what was interrupted"));
  }
  return PendingMove{direction == kToArchive ? MoveDirection::to_archive : MoveDirection::to_chats,
                     *std::move(id),
                     {log_end.value_or(0), *hash}};
}

namespace {

Result<bool> has_messages(const fs::path& folder) {
  for (const std::string_view name : {kMessagesFile, kZipFile}) {
    const auto bytes = read_file(folder / name, 0);
    const bool is_none = bytes || bytes.error().code == Code::not_found;
    if (!is_none && bytes.error().code == Code::io) {
      return std::unexpected(bytes.error());
    }
    if (!is_none) {
      return true;
    }
  }
  return false;
}

// The id in a folder's name; nullopt for other names.
std::optional<SessionId> id_in(std::string_view name, std::string_view begin) {
  if (!name.starts_with(begin)) {
    return std::nullopt;
  }
  auto id = SessionId::parse(name.substr(begin.size()));
  return id && check_id(*id) ? std::optional(*std::move(id)) : std::nullopt;
}

Result<bool> is_only_copy(const Layout& layout, const fs::path& folder, const SessionId& id) {
  REPRISE_ASSIGN(const auto elsewhere, layout.find(id));
  REPRISE_ASSIGN(const bool has_messages, has_messages(folder));
  return !elsewhere && has_messages;
}

}  // namespace

Result<> remove_orphans(const Layout& layout) {
  for (const fs::path& folder : {layout.chats(), layout.archives(), layout.trash()}) {
    REPRISE_ASSIGN(const auto entries, list_if_exists(folder));
    for (const fs::directory_entry& entry : entries) {
      const std::string name = entry.path().filename();
      const auto new_id = id_in(name, kNew);
      if (new_id) {
        REPRISE_ASSIGN(const bool is_needed, is_only_copy(layout, entry.path(), *new_id));
        if (is_needed) {
          continue;
        }
      }
      if (new_id || id_in(name, kCreatingPrefix) || id_in(name, kRemovingPrefix)) {
        REPRISE_TRY(remove_tree(entry.path()));
      }
    }
  }
  sweep_temporary_files(layout.chats(), [&](std::string_view name) {
    return name == layout.current_file().filename() || name == layout.model_file().filename();
  });
  return {};
}

Result<Orphans> find_orphans(const Layout& layout) {
  Orphans orphans;
  auto pending = find_pending_move(layout);
  if (!pending && pending.error().code != Code::corrupt) {
    return std::unexpected(std::move(pending).error());
  }
  const std::optional<PendingMove> moving = pending ? *std::move(pending) : std::nullopt;
  for (const fs::path& folder : {layout.chats(), layout.archives(), layout.trash()}) {
    REPRISE_ASSIGN(const auto entries, list_if_exists(folder));
    for (const fs::directory_entry& entry : entries) {
      const std::string name = entry.path().filename();
      const auto new_id = id_in(name, kNew);
      const auto removed = id_in(name, kRemovingPrefix);
      if ((!new_id && !removed) || (moving && moving->id == (new_id ? *new_id : *removed))) {
        continue;
      }
      REPRISE_ASSIGN(const bool is_needed,
                     new_id ? is_only_copy(layout, entry.path(), *new_id) : Result<bool>(false));
      if (is_needed) {
        orphans.sessions.push_back(entry.path());
      }
      if (removed) {
        orphans.removals.push_back(entry.path());
      }
    }
  }
  REPRISE_ASSIGN(const bool is_locked, LockFile::is_held(layout.lock_file()));
  return is_locked ? Orphans() : orphans;
}

Result<> finish(const Layout& layout, const PendingMove& pending) {
  return pending.direction == MoveDirection::to_archive ? finish_packing(layout, pending)
                                                        : finish_unpacking(layout, pending.id);
}

Result<> recover_move(const Layout& layout) {
  const auto pending = find_pending_move(layout);
  if (!pending && pending.error().code == Code::corrupt) {
    const fs::path file = journal_file(layout);
    REPRISE_ASSIGN(const std::string bytes, read_file(file));
    REPRISE_TRY(quarantine(file, bytes));
    return remove_file(file);
  }
  REPRISE_TRY(pending);
  const std::optional<PendingMove>& moving = *pending;
  return moving ? finish(layout, *moving) : Result<>();
}

}  // namespace reprise::store::chatdir
