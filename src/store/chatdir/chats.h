#pragma once

// The chats of one directory. Those used last stay open: their files and locks are expensive to
// open compared with one append.

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

#include "base/lock_file.h"
#include "reprise/open_store.h"
#include "store/chatdir/layout.h"

namespace reprise::store::chatdir {

class Chat;

// How much to find out about a chat that has no reprise.json: looking into each step costs.
enum class Derive : std::uint8_t { all, all_but_usage };

struct ChatSettings {
  Access access = Access::write;
  std::chrono::milliseconds busy_timeout{10'000};
  std::int64_t messages_max = 0;
  std::string working_dir = {};  // of chats that do not say theirs: the chat directory itself
  Derive derive = Derive::all;
  ProgressSink on_progress = {};
};

// Thread-safe.
class Chats {
 public:
  Chats(Layout layout, ChatSettings settings);

  const Layout& layout() const { return layout_; }
  const ChatSettings& settings() const { return settings_; }
  // Of so many chats.
  void tell(std::string_view work, std::int64_t done, std::size_t total) const;

  // not_found for an unknown session, invalid_argument for an id that is no UUID or a session that
  // is packed away.
  Result<std::shared_ptr<Chat>> get(const SessionId& id);

  // The same for a place that is known already. It is not kept open.
  Result<std::shared_ptr<Chat>> at(const Layout::Listed& listed, Derive derive = Derive::all) const;

  // Runs `work` on the chat; again when it was moved to another place in between.
  template <class Work>
  auto with(const SessionId& id, const Work& work) -> decltype(work(std::declval<Chat&>()));

  // Finishes an archiving or restoring that was interrupted by a crash. One look when there is
  // none.
  Result<> finish_unfinished();

  // Held by whoever makes, moves or removes chats, before the lock of the chat itself. What a
  // crash has interrupted is finished first.
  Result<LockFile::Hold> lock();

 private:
  static constexpr int kAttemptsMax = 5;
  // Whether the chat was moved, or a move of it was finished just now.
  Result<bool> has_moved(const Chat& chat);

  const Layout layout_;
  const ChatSettings settings_;
  std::mutex mutex_;                       // guards what follows
  std::list<std::shared_ptr<Chat>> open_;  // the one used last comes first
  std::unique_ptr<LockFile> lock_;
};

template <class Work>
auto Chats::with(const SessionId& id, const Work& work) -> decltype(work(std::declval<Chat&>())) {
  for (int attempts = 1;; ++attempts) {
    REPRISE_ASSIGN(const std::shared_ptr<Chat> chat, get(id));
    auto result = work(*chat);
    if (result || attempts == kAttemptsMax) {
      return result;
    }
    REPRISE_ASSIGN(const bool is_moved, has_moved(*chat));
    if (!is_moved) {
      return result;
    }
  }
}

}  // namespace reprise::store::chatdir
