#pragma once

// The paths of session files: an active session is in `active/`, a closed one in the folder itself,
// where the original program looks for it, a trashed one in `trash/active/` or `trash/`, depending
// on its previous state. So moving a session to the trash and back changes no bytes.

#include <filesystem>

#include "reprise/source.h"

namespace reprise::store::sessions {

// The id and state according to the file's path.
struct Location {
  SessionId id;
  SessionState state;
  SessionState before = SessionState::active;  // of a trashed session

  // Whether it is active, or was before it was trashed.
  bool is_open() const {
    return (state == SessionState::trashed ? before : state) == SessionState::active;
  }
};

struct LocatedFile {
  std::filesystem::path file;
  Location location;
};

// Stateless; all functions read the disk.
class Layout {
 public:
  explicit Layout(std::filesystem::path root) : root_(std::move(root)) {}

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path path_of(const Location& location) const;
  // Where our version of a closed session is, for when the original rewrites the file: in a folder
  // that it does not look into.
  std::filesystem::path ours(const SessionId& id) const;
  std::vector<std::filesystem::path> folders() const;
  // Our versions, and those among them whose session is in no folder. The original program removes
  // the file of a session that it has open, so these may still be needed.
  Result<std::vector<std::filesystem::path>> all_ours() const;
  Result<std::vector<std::filesystem::path>> ours_without_session() const;
  // The first place that has the session, in case a manual copy put it into several.
  Result<std::optional<std::filesystem::path>> find(const SessionId& id) const;
  // The id and state in the path of a session file; invalid_argument if the name is not an id.
  Result<Location> location(const std::filesystem::path& file) const;

  // All files with names of session files; others (temporary files, quarantined copies) are
  // skipped.
  Result<std::vector<std::filesystem::path>> files() const;
  // The sessions for lists: each id once; invalid names are reported.
  Result<std::vector<LocatedFile>> sessions(std::vector<Damage>& damage) const;

 private:
  std::filesystem::path root_;
};

// Whether one of the first files in the folder is a session file.
Result<bool> is_sessions_folder(const std::filesystem::path& path);

}  // namespace reprise::store::sessions
