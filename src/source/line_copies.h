#pragma once

// Forks of tools that copy a session's lines into a file beside it, without a reference: files in
// one folder that begin with the same message.

#include <functional>
#include <map>            // IWYU pragma: export
#include <mutex>          // IWYU pragma: export
#include <unordered_map>  // IWYU pragma: export

#include "source/list_cache.h"
#include "source/transcript.h"  // IWYU pragma: export

namespace reprise::source {

// Sessions that begin with the same message.
struct LineCopies {
  std::vector<Located> sessions;
  // The one that each was copied from, which may be none.
  std::vector<std::optional<CopiedFrom>> copied_from;
};

// The copies among the sessions of a tool. Thread-safe.
class CopyIndex {
 public:
  using Visit = std::function<void(const Located&)>;
  struct Callbacks {
    std::function<void(const Visit&)> each;  // visits all sessions; may hold a lock meanwhile
    // The id of a session's first message, if it has not been noted; 0 if there is none.
    std::function<Result<std::uint64_t>(const Located&)> read_first_message;
  };
  // `tool` must outlive it.
  CopyIndex(const JsonlTool& tool, Callbacks callbacks)
      : tool_(tool), callbacks_(std::move(callbacks)) {}

  void note_first_message(const Located& located, std::uint64_t first_message);
  // The list of sessions has changed.
  void note_listing();

  // The sessions in the same folder that begin with the same message, with this one; none if there
  // is no other, or the tool does not fork by copying.
  Result<std::vector<Located>> copies_of(const Located& located);
  Result<std::optional<CopiedFrom>> find_copied_from(const Located& located);
  // Of the first file of each.
  static HeadState state_of(const std::vector<Located>& copies);

 private:
  // The first message and the folder of sessions.
  using Key = std::pair<std::uint64_t, std::string>;
  static Key key_of(const Located& located, std::uint64_t first_message);
  Result<std::uint64_t> first_message_of(const Located& located);
  std::uint64_t noted_first_message(const Located& located);
  Result<> update();

  const JsonlTool& tool_;
  Callbacks callbacks_;
  std::mutex mutex_;  // guards the members below; not held during callbacks
  std::unordered_map<std::string, std::uint64_t> first_messages_;  // by session
  std::int64_t listing_ = 0;                                       // its number
  std::optional<std::int64_t> indexed_listing_;
  std::map<Key, std::vector<Located>> copies_;
  std::map<Key, std::pair<std::string, std::shared_ptr<const LineCopies>>> known_copies_;
};

}  // namespace reprise::source
