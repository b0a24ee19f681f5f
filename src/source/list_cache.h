#pragma once

// Caches list entries of sessions whose files have not changed: a file per source, in a folder of
// ours. Missing or damaged entries, and those of other versions, are read from the tool's files
// again.
//
//  (1) An entry is valid while all files that it was read from have the same inode, size and time.
//      A file that changed just now is not cached: its next change may leave the same time.
//  (2) save() removes sessions that no longer exist.
//  (3) save() replaces the file atomically; of two processes, the last one wins.

#include <filesystem>
#include <functional>
#include <memory>  // IWYU pragma: export
#include <mutex>   // IWYU pragma: export
#include <span>
#include <unordered_map>

#include "reprise/source.h"  // IWYU pragma: export

namespace reprise::source {

struct CachedHead {
  std::optional<SessionInfo> info = std::nullopt;  // nullopt: the session has no messages
  bool is_child = false;
  // Files that it was read from, other than those that identify the session.
  std::vector<std::filesystem::path> files = {};
  std::uint64_t first_message = 0;  // see Transcript
  // Of a tool that forks by copying: where this session was forked, found when the sessions with
  // the same first message had this state; 0: not looked for.
  std::uint64_t copies_state = 0;
  std::optional<ForkOrigin> copied_from = std::nullopt;
};

// A hash of the values and files that an entry depends on; nullopt if it must not be cached.
class HeadState {
 public:
  void add(std::string_view value);
  void add_file(const std::filesystem::path& file);
  void add_file(const std::filesystem::path& file, const Result<FileState>& state);
  std::optional<std::uint64_t> take() const {
    return is_settled_ ? std::optional(hash_) : std::nullopt;
  }
  // See SessionInfo::revision.
  std::string revision() const;
  // When the last of the files was written.
  Time changed_at() const { return changed_at_; }

 private:
  std::uint64_t hash_ = 0;
  Time changed_at_ = {};
  bool is_settled_ = true;  // false: the next change of a file may leave the same state
};

using SharedHead = std::shared_ptr<const CachedHead>;

// Thread-safe.
class ListCache {
 public:
  // Stored in a file in `folder`. If `folder` is "", nothing is cached.
  ListCache(std::filesystem::path folder, std::string source);

  bool contains(const SessionId& id);
  // Null if there is no entry, or its state differs. `state` covers the session itself; the entry's
  // other files are added here.
  SharedHead find(const SessionId& id, HeadState state);
  // Returns the head with the session's revision.
  SharedHead put(const SessionId& id, HeadState state, CachedHead head);
  // The same for one that must not be cached.
  static SharedHead share(HeadState state, CachedHead head);
  // Removes sessions that no longer exist and writes pending changes. If that fails, the next list
  // reads the files again.
  void save(const std::function<bool(std::string_view id)>& is_present);

 private:
  struct Entry {
    std::uint64_t state = 0;
    SharedHead head;
  };

  void load();
  bool parse(std::string_view bytes);
  std::string format() const;

  const std::filesystem::path folder_;
  const std::string source_;
  std::filesystem::path file_;
  std::mutex mutex_;
  bool is_loaded_ = false;
  bool has_changed_ = false;
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace reprise::source
