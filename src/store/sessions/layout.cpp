#include "store/sessions/layout.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <ranges>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "model/known_time.h"
#include "reprise/source.h"
#include "store/paths.h"
#include "store/sessions/session_json.h"

namespace reprise::store::sessions {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".json";
constexpr std::string_view kOurs = ".reprise";
struct Kind {
  SessionState state;
  SessionState before;  // of a trashed session
  std::string_view folder;
};
// In the order of the search.
constexpr std::array<Kind, 4> kKinds = {{
    {SessionState::active, SessionState::active, "active"},
    {SessionState::closed, SessionState::closed, ""},
    {SessionState::trashed, SessionState::active, "trash/active"},
    {SessionState::trashed, SessionState::closed, "trash"},
}};

fs::path folder_in(const fs::path& root, const Kind& kind) {
  return kind.folder.empty() ? root : root / kind.folder;
}

// The sorted names in a folder; empty if it does not exist.
Result<std::vector<std::string>> names_in(const fs::path& folder) {
  REPRISE_ASSIGN(const auto entries, list_if_exists(folder));
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (const fs::directory_entry& entry : entries) {
    names.push_back(entry.path().filename().native());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

fs::path Layout::path_of(const Location& location) const {
  const bool is_open = location.is_open();
  const bool is_trashed = location.state == SessionState::trashed;
  for (const Kind& kind : kKinds) {
    const Location location_of_kind{location.id, kind.state, kind.before};
    if (location_of_kind.is_open() == is_open &&
        (kind.state == SessionState::trashed) == is_trashed) {
      return folder_in(root_, kind) / cat(location.id.str(), kSuffix);
    }
  }
  return root_ / cat(location.id.str(), kSuffix);
}

fs::path Layout::ours(const SessionId& id) const {
  return root_ / kOurs / cat(id.str(), kSuffix);
}

Result<std::vector<fs::path>> Layout::all_ours() const {
  std::vector<fs::path> found;
  REPRISE_ASSIGN(const std::vector<std::string> names, names_in(root_ / kOurs));
  for (const std::string& name : names) {
    if (name.ends_with(kSuffix)) {
      found.push_back(root_ / kOurs / name);
    }
  }
  return found;
}

Result<std::vector<fs::path>> Layout::ours_without_session() const {
  REPRISE_ASSIGN(std::vector<fs::path> found, all_ours());
  std::erase_if(found, [this](const fs::path& file) {
    const auto id = SessionId::parse(file.stem().native());
    const auto session = id ? find(*id) : Result<std::optional<fs::path>>();
    return !session || *session;
  });
  return found;
}

std::vector<fs::path> Layout::folders() const {
  std::vector<fs::path> folders = {root_ / kOurs};
  for (const Kind& kind : kKinds) {
    folders.push_back(folder_in(root_, kind));
  }
  return folders;
}

Result<std::optional<fs::path>> Layout::find(const SessionId& id) const {
  for (const Kind& kind : kKinds) {
    fs::path file = folder_in(root_, kind) / cat(id.str(), kSuffix);
    REPRISE_ASSIGN(const bool has_file, file_exists(file));
    if (has_file) {
      return file;
    }
  }
  return std::nullopt;
}

Result<Location> Layout::location(const fs::path& file) const {
  const std::string name = file.filename().native();
  REPRISE_ASSIGN(SessionId id, SessionId::parse(name.substr(0, name.size() - kSuffix.size())));
  const fs::path parent = file.parent_path();
  for (const Kind& kind : kKinds) {
    if (parent == folder_in(root_, kind)) {
      return Location{std::move(id), kind.state, kind.before};
    }
  }
  return fail(Code::invalid_argument, cat(file.native(), " is in no folder of ", root_.native()));
}

Result<std::vector<fs::path>> Layout::files() const {
  std::vector<fs::path> files;
  for (const Kind& kind : kKinds) {
    REPRISE_ASSIGN(const std::vector<std::string> names, names_in(folder_in(root_, kind)));
    for (const std::string& name : names) {
      if (name.ends_with(kSuffix) && name != kSuffix) {
        files.push_back(folder_in(root_, kind) / name);
      }
    }
  }
  return files;
}

Result<std::vector<LocatedFile>> Layout::sessions(std::vector<Damage>& damage) const {
  REPRISE_ASSIGN(std::vector<fs::path> paths, files());
  std::vector<LocatedFile> sessions;
  sessions.reserve(paths.size());
  std::set<SessionId> seen;
  for (fs::path& file : paths) {
    auto location = this->location(file);
    if (!location) {
      damage.push_back({file.native(), "its name is not the id of a session", ""});
    } else if (!seen.insert(location->id).second) {
      damage.push_back(
          {file.native(), "another folder has the session, too: that one is used", ""});
    } else {
      sessions.push_back({std::move(file), *std::move(location)});
    }
  }
  return sessions;
}

Result<bool> is_sessions_folder(const fs::path& path) {
  constexpr std::size_t kCheckedMax = 10;
  REPRISE_ASSIGN(const bool has_folder, is_folder(path));
  if (!has_folder) {
    return false;
  }
  std::vector<Damage> ignored;
  REPRISE_ASSIGN(const std::vector<LocatedFile> found, Layout(path).sessions(ignored));
  // Conversations that other programs store as JSON have neither a working directory nor a creation
  // time.
  return std::ranges::any_of(found | std::views::take(kCheckedMax), [](const LocatedFile& located) {
    const auto info = read_info(located.file, located.location, {});
    return info && (!info->working_dir.empty() || is_known(info->created_at));
  });
}

}  // namespace reprise::store::sessions
