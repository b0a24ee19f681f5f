#pragma once

// What a list tells of sessions whose files are as they were, kept between runs: a file for each
// source in a folder of ours, never in the tool's place. It is derived: what is missing, damaged or
// of another version is read from the tool's files again.
//
//  (1) An entry holds as long as all files that it was read from have the same inode, size and
//  time.
//      A file that was changed just now is not relied on: its next change may leave the same time.
//  (2) save() leaves nothing of sessions that are gone.
//  (3) Whoever saves replaces the file whole; of two processes at once, the last one's stays.

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <span>

#include "reprise/source.h"

namespace reprise::source {

struct CachedHead {
  std::optional<SessionInfo> info = std::nullopt;  // nullopt: it has no messages
  bool is_child = false;
  // That it was read from, beside those that it is found by.
  std::vector<std::filesystem::path> files = {};
};

// The facts and files that an entry depends on. nullopt: it cannot be relied on.
class HeadState {
 public:
  void add(std::string_view fact);
  void add_file(const std::filesystem::path& file);
  std::optional<std::uint64_t> take() const { return hash_; }

 private:
  std::optional<std::uint64_t> hash_ = 0;
};

// Thread-safe.
class ListCache {
 public:
  // In a file of `folder`; "" for none, and nothing is found then.
  ListCache(std::filesystem::path folder, std::string source);

  // nullopt when it is not known, or its state is another one. `state` is what was added of the
  // session itself; the entry's other files are added here.
  std::optional<CachedHead> find(const SessionId& id, HeadState state);
  void put(const SessionId& id, HeadState state, CachedHead head);
  // Removes the sessions that are not there, and writes what is not written yet. Where that fails,
  // the next list reads the files again.
  void save(const std::function<bool(std::string_view id)>& is_there);

 private:
  struct Entry {
    std::uint64_t state = 0;
    CachedHead head;
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
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace reprise::source
