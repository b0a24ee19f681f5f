#pragma once

// The chats of one directory. Those used last stay open: their files and locks are expensive to
// open compared with one append.

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

#include "base/lock_file.h"
#include "reprise/types.h"
#include "store/chatdir/chat.h"
#include "store/chatdir/layout.h"

namespace reprise::store::chatdir {

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
  static constexpr int kTries = 5;

  const Layout layout_;
  const ChatSettings settings_;
  std::mutex mutex_;                       // guards what follows
  std::list<std::shared_ptr<Chat>> open_;  // the one used last comes first
  std::unique_ptr<LockFile> lock_;
};

template <class Work>
auto Chats::with(const SessionId& id, const Work& work) -> decltype(work(std::declval<Chat&>())) {
  for (int tries = 1;; ++tries) {
    REPRISE_ASSIGN(const std::shared_ptr<Chat> chat, get(id));
    auto result = work(*chat);
    if (result || tries == kTries) {
      return result;
    }
    REPRISE_ASSIGN(const bool is_in_place, chat->is_in_place());
    if (is_in_place) {
      REPRISE_ASSIGN(const bool is_unfinished, chat->is_unfinished());
      if (!is_unfinished) {
        return result;
      }
      REPRISE_TRY(finish_unfinished());
    }
  }
}

}  // namespace reprise::store::chatdir
