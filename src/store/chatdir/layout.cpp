#include "store/chatdir/layout.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "reprise/error.h"
#include "reprise/session.h"
#include "reprise/types.h"
#include "store/paths.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

// A link to one is as well, so that whoever opens what is in it says that it is a link.
bool is_folder(const fs::path& path) {
  std::error_code absent;
  return fs::is_directory(path, absent);
}

Spot trash_spot(const fs::path& folder) {
  return is_there(folder / kZipFile) ? Spot::trashed_archive : Spot::trash;
}

// The session that a folder's name says; nullopt for other names.
std::optional<SessionId> id_of(std::string_view name, Spot spot) {
  if (spot == Spot::archive) {
    return parse_short_id(name);
  }
  auto id = SessionId::parse(name);
  return id && short_id(*id) ? std::optional(*std::move(id)) : std::nullopt;
}

}  // namespace

Result<> check_id(const SessionId& id) {
  if (!short_id(id)) {
    return fail(Code::invalid_argument,
                cat("a chat directory names its sessions by UUIDs, ", id.str(), " is none"));
  }
  return {};
}

std::string step_folder_name(Step step) {
  const std::string number = std::to_string(step.value);
  return number.size() < 3 ? std::string(3 - number.size(), '0') + number : number;
}

Result<bool> is_chat_directory(const fs::path& folder) {
  const Layout layout(folder);
  if (is_there(layout.current_file())) {
    return true;
  }
  for (const Spot spot : {Spot::chats, Spot::archive}) {
    const auto found = layout.list(spot);
    if (found && !found->empty()) {
      return true;
    }
  }
  return false;
}

fs::path Layout::archive(const SessionId& id) const {
  return archives() / short_id(id).value_or("");
}

std::optional<Place> Layout::find(const SessionId& id) const {
  if (!short_id(id)) {
    return std::nullopt;
  }
  if (is_folder(chat(id))) {
    return Place{chat(id), Spot::chats};
  }
  if (is_folder(trashed(id))) {
    return Place{trashed(id), trash_spot(trashed(id))};
  }
  if (is_folder(archive(id))) {
    return Place{archive(id), Spot::archive};
  }
  return std::nullopt;
}

Result<std::vector<Layout::Listed>> Layout::list(Spot spot) const {
  const fs::path folder = spot == Spot::chats     ? chats()
                          : spot == Spot::archive ? archives()
                                                  : trash();
  REPRISE_ASSIGN(const auto entries, list_if_there(folder));
  std::vector<Listed> found;
  for (const fs::directory_entry& entry : entries) {
    auto id = id_of(entry.path().filename().native(), spot);
    if (!id || !is_folder(entry.path())) {
      continue;
    }
    const Spot there = folder == trash() ? trash_spot(entry.path()) : spot;
    found.push_back({*std::move(id), {entry.path(), there}});
  }
  return found;
}

}  // namespace reprise::store::chatdir
