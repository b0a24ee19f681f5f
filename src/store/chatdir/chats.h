#pragma once

// The chats of one directory. The most recently used ones remain open: opening their files and
// locks is expensive compared with one append.

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

#include "base/lock_file.h"
#include "reprise/open_store.h"
#include "store/chatdir/layout.h"

namespace reprise::store::chatdir {

class Chat;

// How much metadata to derive for a chat without reprise.json: the usage requires reading each
// step.
enum class MetadataScope : std::uint8_t { all, all_but_usage };

struct ChatSettings {
  Access access = Access::write;
  std::chrono::milliseconds busy_timeout{10'000};
  std::int64_t messages_max = 0;
  std::string working_dir = {};  // for chats without one: the chat directory itself
  MetadataScope scope = MetadataScope::all;
  ProgressSink on_progress = {};
  std::function<void(std::string_view)> on_warning = {};
};

// Thread-safe.
class Chats {
 public:
  Chats(Layout layout, ChatSettings settings);

  const Layout& layout() const { return layout_; }
  const ChatSettings& settings() const { return settings_; }
  // Reports progress: `done` of `total` chats.
  void report_progress(std::string_view work, std::int64_t done, std::size_t total) const;

  // not_found for an unknown session, invalid_argument for an id that is not a UUID or for an
  // archived session.
  Result<std::shared_ptr<Chat>> get(const SessionId& id);

  // The same for a known location. The chat is not cached.
  Result<std::shared_ptr<Chat>> at(const Layout::Listed& listed,
                                   MetadataScope scope = MetadataScope::all) const;

  // Runs `work` on the chat, and again if the chat was moved meanwhile.
  template <class Work>
  auto with(const SessionId& id, const Work& work) -> decltype(work(std::declval<Chat&>()));

  // Finishes an archiving or restoring that a crash interrupted. Costs one file lookup if there is
  // none.
  Result<> recover_moves();

  // The lock for creating, moving or removing chats, taken before the lock of the chat itself.
  // Interrupted moves are finished first.
  Result<LockFile::Hold> lock();

 private:
  static constexpr int kAttemptsMax = 5;
  // Whether the chat was moved, or an interrupted move of it has now been finished.
  Result<bool> has_moved(const Chat& chat);

  const Layout layout_;
  const ChatSettings settings_;
  std::mutex mutex_;                       // guards the members below
  std::list<std::shared_ptr<Chat>> open_;  // most recently used first
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
