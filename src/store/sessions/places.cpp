#include "store/sessions/places.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "reprise/error.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/types.h"
#include "store/sessions/session_info.h"
#include "store/sessions/session_json.h"

namespace reprise::store::sessions {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".json";
// In the order in which they are looked at.
constexpr std::array kStates = {SessionState::active, SessionState::closed, SessionState::trashed};

// The names in a folder, in order; none where there is no folder.
Result<std::vector<std::string>> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename().native());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return std::unexpected(os_error("read the folder", folder, error.value()));
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

fs::path Places::folder(SessionState state) const {
  switch (state) {
    case SessionState::active:
      return root_ / "active";
    case SessionState::trashed:
      return root_ / "trash";
    default:
      return root_;
  }
}

fs::path Places::place(const SessionId& id, SessionState state) const {
  return folder(state) / cat(id.str(), kSuffix);
}

std::optional<fs::path> Places::find(const SessionId& id) const {
  for (const SessionState state : kStates) {
    fs::path file = place(id, state);
    std::error_code none;
    if (fs::exists(fs::symlink_status(file, none))) {
      return file;
    }
  }
  return std::nullopt;
}

Result<Placed> Places::placed(const fs::path& file) const {
  const std::string name = file.filename().native();
  REPRISE_ASSIGN(SessionId id, SessionId::parse(name.substr(0, name.size() - kSuffix.size())));
  const fs::path parent = file.parent_path();
  for (const SessionState state : kStates) {
    if (parent == folder(state)) {
      return Placed{std::move(id), state};
    }
  }
  return fail(Code::invalid_argument, cat(file.native(), " is in no folder of ", root_.native()));
}

Result<std::vector<fs::path>> Places::files() const {
  std::vector<fs::path> files;
  for (const SessionState state : kStates) {
    REPRISE_ASSIGN(const std::vector<std::string> names, names_in(folder(state)));
    for (const std::string& name : names) {
      if (name.ends_with(kSuffix) && name != kSuffix) {
        files.push_back(folder(state) / name);
      }
    }
  }
  return files;
}

Result<std::vector<PlacedFile>> Places::sessions(std::vector<Damage>& damage) const {
  REPRISE_ASSIGN(std::vector<fs::path> all, files());
  std::vector<PlacedFile> sessions;
  sessions.reserve(all.size());
  std::set<SessionId> seen;
  for (fs::path& file : all) {
    auto placed = this->placed(file);
    if (!placed) {
      damage.push_back({file.native(), "its name is not the id of a session", ""});
    } else if (!seen.insert(placed->id).second) {
      damage.push_back({file.native(), "another folder has the session, too: that one counts", ""});
    } else {
      sessions.push_back({std::move(file), *std::move(placed)});
    }
  }
  return sessions;
}

Result<bool> is_sessions_folder(const fs::path& path) {
  constexpr std::size_t kLookedAtMax = 10;
  std::error_code none;
  if (!fs::is_directory(path, none)) {
    return false;
  }
  std::vector<Damage> ignored;
  REPRISE_ASSIGN(const std::vector<PlacedFile> found, Places(path).sessions(ignored));
  return std::ranges::any_of(found | std::views::take(kLookedAtMax), [](const PlacedFile& one) {
    return read_info(one.file, one.placed).has_value();
  });
}

}  // namespace reprise::store::sessions
