#pragma once

// Where the files are: an open session in `active/`, a closed one in the folder itself, where the
// original finds it; one in the trash in `trash/active/` or `trash/`, after what it was. So a
// session goes to the trash and comes back without a byte being changed.

#include <filesystem>

#include "reprise/store.h"
#include "store/sessions/session_json.h"

namespace reprise::store::sessions {

struct PlacedFile {
  std::filesystem::path file;
  Placed placed;
};

// Keeps nothing; all functions look at the disk.
class Places {
 public:
  explicit Places(std::filesystem::path root) : root_(std::move(root)) {}

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path place(const Placed& placed) const;
  std::vector<std::filesystem::path> folders() const;
  // The first place that has it, should a copy by hand have put it into several.
  Result<std::optional<std::filesystem::path>> find(const SessionId& id) const;
  // What the path of a session file says; invalid_argument for a name that is no id.
  Result<Placed> placed(const std::filesystem::path& file) const;

  // All that are named like session files. Others (temporary files, copies kept aside) are passed
  // over.
  Result<std::vector<std::filesystem::path>> files() const;
  // Those that are listed: each id once, what cannot be one is reported.
  Result<std::vector<PlacedFile>> sessions(std::vector<Damage>& damage) const;

 private:
  std::filesystem::path root_;
};

// Whether a session file is among the first that are looked at.
Result<bool> is_sessions_folder(const std::filesystem::path& path);

}  // namespace reprise::store::sessions
