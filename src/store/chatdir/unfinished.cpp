#include "store/chatdir/unfinished.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "reprise/error.h"
#include "reprise/types.h"
#include "store/chatdir/current.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/log_end.h"
#include "store/file/keep_aside.h"
#include "store/paths.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kToArchive = "archive";
constexpr std::string_view kToChats = "restore";
constexpr std::int64_t kDoingBytesMax = 65536;

fs::path doing_file(const Layout& layout) {
  return layout.archives() / ".doing";
}

Result<> conclude(const MovingNames& names) {
  REPRISE_TRY(remove_tree(names.leaving));
  REPRISE_TRY(remove_if_there(names.doing));
  return sync_folder(folder_of(names.doing));
}

Result<> take_away(const MovingNames& names, const fs::path& folder) {
  if (!is_there(folder)) {
    return {};
  }
  REPRISE_TRY(remove_tree(names.leaving));
  return move_file(folder, names.leaving);
}

Result<bool> is_changed(const MovingNames& names, const LogPoint& packed) {
  const auto now = point_at_end(names.chat / kMessagesFile);
  if (!now && now.error().code == Code::io) {
    return std::unexpected(now.error());  // nobody knows
  }
  return now ? *now != packed : now.error().code != Code::not_found;
}

Result<> finish_packing(const Layout& layout, const Unfinished& packed) {
  const MovingNames names(layout, packed.id);
  if (is_there(names.new_archive)) {
    // An older archive of the same chat is in the new one already.
    REPRISE_TRY(take_away(names, names.archive));
    REPRISE_TRY(move_file(names.new_archive, names.archive));
  }
  if (is_there(names.chat)) {
    REPRISE_ASSIGN(const bool was_changed, is_changed(names, packed.log));
    if (!was_changed) {
      REPRISE_TRY(take_away(names, names.chat));
    }
  }
  if (!is_there(names.chat)) {
    REPRISE_TRY(clear_current(layout, packed.id));
  }
  return conclude(names);
}

Result<> finish_unpacking(const Layout& layout, const SessionId& id) {
  const MovingNames names(layout, id);
  if (is_there(names.new_chat) && is_there(names.chat)) {
    REPRISE_TRY(conclude(names));
    return remove_tree(names.new_chat);
  }
  if (is_there(names.new_chat)) {
    // No chat is current while the one that is named is in the archive: it becomes current with the
    // move, in one step.
    REPRISE_TRY(name_current(layout, id));
    REPRISE_TRY(move_file(names.new_chat, names.chat));
  }
  REPRISE_TRY(take_away(names, names.archive));
  return conclude(names);
}

}  // namespace

MovingNames::MovingNames(const Layout& layout, const SessionId& id)
    : doing(doing_file(layout)),
      chat(layout.chat(id)),
      archive(layout.archive(id)),
      new_chat(layout.chats() / cat(".new-", id.str())),
      new_archive(layout.archives() / cat(".new-", id.str())),
      leaving(layout.archives() / cat(".leaving-", id.str())) {}

Result<> announce(const Layout& layout, const Unfinished& unfinished) {
  std::string out;
  json::ObjectWriter(out)
      .field("do", unfinished.moving == Moving::to_archive ? kToArchive : kToChats)
      .field("id", unfinished.id.str())
      .field("end", unfinished.log.end)
      .field("tail", std::to_string(unfinished.log.tail))
      .close();
  return replace_file(doing_file(layout), out);
}

Result<std::optional<Unfinished>> find_unfinished(const Layout& layout) {
  auto bytes = read_file(doing_file(layout), kDoingBytesMax);
  if (!bytes && bytes.error().code == Code::not_found) {
    return std::nullopt;
  }
  REPRISE_TRY(bytes);
  std::string what;
  std::string name;
  std::string tail;
  LogPoint log;
  json::Scanner scanner(*bytes);
  const bool whole = scanner.object([&](std::string_view key) {
    std::string* const text = key == "do"     ? &what
                              : key == "id"   ? &name
                              : key == "tail" ? &tail
                                              : nullptr;
    if (text != nullptr) {
      return scanner.string(*text);
    }
    return key == "end" ? scanner.integer(log.end) : scanner.skip();
  });
  auto id = SessionId::parse(name);
  const auto hash = parse_tail(tail);
  if (!whole || !scanner.end() || !id || !check_id(*id) || !hash ||
      (what != kToArchive && what != kToChats)) {
    return fail(Code::corrupt,
                cat(doing_file(layout).native(), " does not say what was interrupted"));
  }
  log.tail = *hash;
  return Unfinished{what == kToArchive ? Moving::to_archive : Moving::to_chats, *std::move(id),
                    log};
}

Result<> finish(const Layout& layout, const Unfinished& unfinished) {
  return unfinished.moving == Moving::to_archive ? finish_packing(layout, unfinished)
                                                 : finish_unpacking(layout, unfinished.id);
}

Result<> finish_interrupted(const Layout& layout) {
  const auto unfinished = find_unfinished(layout);
  if (!unfinished && unfinished.error().code == Code::corrupt) {
    const fs::path file = doing_file(layout);
    REPRISE_ASSIGN(const std::string bytes, read_file(file));
    REPRISE_TRY(keep_aside(file, bytes));
    return remove_file(file);
  }
  REPRISE_TRY(unfinished);
  const std::optional<Unfinished>& moving = *unfinished;
  return moving ? finish(layout, *moving) : Result<>();
}

}  // namespace reprise::store::chatdir
