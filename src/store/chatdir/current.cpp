#include <fcntl.h>
#include <stdio.h>  // renameat
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/file.h"
#include "base/json_view.h"
#include "base/json_write.h"
#include "base/lock_file.h"
#include "base/text.h"
#include "store/chatdir/chat.h"
#include "store/chatdir/chatdir_store.h"
#include "store/chatdir/chats.h"
#include "store/chatdir/layout.h"
#include "store/rules.h"
#include "store/stored_json.h"
#include "store/stored_session.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNameBytesMax = 4096;
constexpr std::int64_t kModelBytesMax = std::int64_t{1} << 20;

// A link names the chat by its target path, which is never followed.
Result<bool> is_link(const fs::path& file) {
  REPRISE_ASSIGN(const FileKind kind, kind_of(file));
  return kind == FileKind::link;
}

Result<std::string> read_name(const fs::path& file) {
  REPRISE_ASSIGN(const bool is_named_by_link, is_link(file));
  if (is_named_by_link) {
    std::error_code error;
    const fs::path target = fs::read_symlink(file, error);
    if (error) {
      return std::unexpected(os_error("read the link", file, error.value()));
    }
    return target.filename().string();
  }
  REPRISE_ASSIGN(const std::string bytes, read_file(file, kNameBytesMax));
  return std::string(trimmed(bytes));
}

Result<> replace_link(const fs::path& link, const fs::path& target) {
  REPRISE_ASSIGN(const Fd folder, open_file(folder_of(link), O_RDONLY | O_DIRECTORY));
  // The lock is held, so an existing file of that name is left over from a process that died.
  const std::string temporary = cat(link.filename().native(), ".reprise-0.tmp");
  const auto remove = [&] { return ::unlinkat(folder.get(), temporary.c_str(), 0); };
  (void)remove();
  if (::symlinkat(target.c_str(), folder.get(), temporary.c_str()) != 0 ||
      ::renameat(folder.get(), temporary.c_str(), folder.get(), link.filename().c_str()) != 0) {
    const int os_errno = errno;
    (void)remove();
    return std::unexpected(os_error("replace", link, os_errno));
  }
  return sync_file(folder.get(), folder_of(link));
}

// Preserves the other members; "" if nothing changes.
std::string replace_model(std::string_view old, const SessionInfo& info) {
  const std::string provider = provider_for_original(info.provider);
  const JsonView before(old);
  if (before["model"].text() == info.model && before["provider"].text() == provider) {
    return "";
  }
  Extra others = extra_from_json(old);
  std::erase_if(others, [](const ExtraField& field) {
    return field.name == "model" || field.name == "provider";
  });
  std::string out;
  json::ObjectWriter object(out);
  object.field("model", info.model).field("provider", provider).extra(others).close();
  return out;
}

Result<> remove_name(const Layout& layout) {
  REPRISE_TRY(remove_if_exists(layout.current_file()));
  return sync_folder(layout.chats());
}

}  // namespace

Result<> clear_current(const Layout& layout, const SessionId& id) {
  // An unreadable file does not name this chat; find_current() reports the error.
  const auto name = read_name(layout.current_file());
  return name && *name == id.str() ? remove_name(layout) : Result<>();
}

Result<> name_current(const Layout& layout, const SessionId& id) {
  const fs::path file = layout.current_file();
  REPRISE_ASSIGN(const bool is_named_by_link, is_link(file));
  return is_named_by_link ? replace_link(file, id.str()) : replace_file(file, id.str());
}

Result<std::optional<SessionId>> find_current(const Layout& layout) {
  const fs::path file = layout.current_file();
  REPRISE_ASSIGN(const auto name, if_exists(read_name(file)));
  if (!name) {
    return std::nullopt;
  }
  auto id = SessionId::parse(*name);
  if (!id || !check_id(*id)) {
    return fail(Code::corrupt, cat(file.native(), " does not name a chat: remove it"));
  }
  REPRISE_ASSIGN(const auto location, layout.find(*id));
  return location && location->area == Area::chats ? std::optional(*std::move(id)) : std::nullopt;
}

Result<std::optional<SessionId>> ChatdirStore::current() {
  return find_current(chats_.layout());
}

Result<> ChatdirStore::write_model(const SessionId& id) {
  REPRISE_ASSIGN(const StoredSession stored,
                 chats_.with(id, [](Chat& chat) { return chat.load(); }));
  if (stored.session.info.model.empty()) {
    return {};
  }
  const fs::path file = chats_.layout().model_file();
  const auto old = read_file(file, kModelBytesMax);
  const std::string changed = replace_model(old ? *old : "", stored.session.info);
  if (changed.empty()) {
    return {};
  }
  REPRISE_ASSIGN(const std::string text, json::pretty(changed));
  return replace_file(file, text);
}

Result<> ChatdirStore::set_current(const std::optional<SessionId>& id) {
  REPRISE_ASSIGN(const LockFile::Hold hold, chats_.lock());
  if (!id) {
    return remove_name(chats_.layout());
  }
  REPRISE_TRY(check_id(*id));
  REPRISE_ASSIGN(const auto location, chats_.layout().find(*id));
  if (!location) {
    return std::unexpected(no_session(*id));
  }
  if (location->area != Area::chats) {
    return fail(Code::invalid_argument,
                cat("session ", id->str(), " is not among the chats: restore it first"));
  }
  REPRISE_TRY(write_model(*id));
  return name_current(chats_.layout(), *id);
}

}  // namespace reprise::store::chatdir
