#include "store/chatdir/chats.h"

#include <algorithm>
#include <mutex>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/reserve.h"
#include "base/text.h"
#include "reprise/open_store.h"
#include "store/call.h"
#include "store/chatdir/chat.h"
#include "store/chatdir/chat_metadata.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/move_journal.h"
#include "store/rules.h"

namespace reprise::store::chatdir {
namespace {

constexpr std::size_t kOpenMax = 32;

}  // namespace

Chats::Chats(Layout layout, ChatSettings settings)
    : layout_(std::move(layout)), settings_(std::move(settings)) {}

void Chats::report_progress(std::string_view work, std::int64_t done, std::size_t total) const {
  if (settings_.on_progress) {
    settings_.on_progress({work, done, static_cast<std::int64_t>(total)});
  }
}

Result<std::shared_ptr<Chat>> Chats::get(const SessionId& id) {
  REPRISE_TRY(check_id(id));
  REPRISE_ASSIGN(std::optional<Location> location, layout_.find(id));
  if (!location) {
    return std::unexpected(no_session(id));
  }
  if (location->is_packed()) {
    return fail(Code::invalid_argument,
                cat("session ", id.str(), " is archived: restore it first"));
  }
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find_if(open_, [&](const auto& chat) {
    return chat->id() == id && chat->location().folder == location->folder;
  });
  REPRISE_ASSIGN(const bool is_in_place,
                 known != open_.end() ? (*known)->is_in_place() : Result<bool>(false));
  if (is_in_place) {
    open_.splice(open_.begin(), open_, known);
    return open_.front();
  }
  REPRISE_ASSIGN(auto chat, Chat::open(layout_, id, *std::move(location), settings_));
  open_.remove_if([&id](const auto& other) { return other->id() == id; });
  open_.push_front(std::move(chat));
  if (open_.size() > kOpenMax) {
    open_.pop_back();
  }
  return open_.front();
}

Result<std::shared_ptr<Chat>> Chats::at(const Layout::Listed& listed, MetadataScope scope) const {
  ChatSettings settings = settings_;
  settings.scope = scope;
  return Chat::open(layout_, listed.id, listed.location, std::move(settings));
}

Result<bool> Chats::has_moved(const Chat& chat) {
  REPRISE_ASSIGN(const bool is_in_place, chat.is_in_place());
  REPRISE_ASSIGN(const bool is_pending,
                 is_in_place ? chat.has_pending_move() : Result<bool>(false));
  if (is_pending) {
    REPRISE_TRY(recover_moves());
  }
  return !is_in_place || is_pending;
}

Result<> Chats::recover_moves() {
  if (settings_.access == Access::read) {
    return {};  // chats can be read in their current state
  }
  const auto pending = find_pending_move(layout_);
  if (pending && !*pending) {
    return {};
  }
  REPRISE_TRY(lock());
  return {};
}

Result<LockFile::Hold> Chats::lock() {
  if (settings_.access == Access::read) {
    return std::unexpected(read_only(layout_.root().native()));
  }
  LockFile* file = nullptr;
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    if (lock_ == nullptr) {
      REPRISE_TRY(make_private_folders(layout_.chats()));
      REPRISE_ASSIGN(lock_, LockFile::open(layout_.lock_file()));
      allocate_reserve(layout_.lock_file());
      is_first = true;
    }
    file = lock_.get();
  }
  REPRISE_ASSIGN(LockFile::Hold hold,
                 take_lock(*file, std::chrono::steady_clock::now() + settings_.busy_timeout));
  // The process that was moving a chat held the lock: now its move is complete or was interrupted.
  REPRISE_TRY(recover_move(layout_));
  if (is_first) {
    (void)remove_orphans(layout_);                // the next process tries again
    (void)make_private_folders(layout_.trash());  // when the disk is full, it could not be created
  }
  return hold;
}

}  // namespace reprise::store::chatdir
