#include "store/chatdir/layout.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/file.h"
#include "base/text.h"
#include "reprise/types.h"
#include "store/paths.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

// A link is treated as a folder, so that opening its contents reports the link.
bool can_be_chat(const fs::path& folder, FileKind kind) {
  if (kind != FileKind::link) {
    return kind == FileKind::folder;
  }
  const auto behind = kind_of_target(folder);
  return !behind || *behind == FileKind::folder;
}

Result<Area> trash_area(const fs::path& folder) {
  REPRISE_ASSIGN(const bool is_packed, file_exists(folder / kZipFile));
  return is_packed ? Area::trashed_archive : Area::trash;
}

// The session id in a folder's name; nullopt for other names.
std::optional<SessionId> id_of(std::string_view name, Area area) {
  if (area == Area::archive) {
    return parse_archive_name(name);
  }
  auto id = SessionId::parse(name);
  return id && archive_name(*id) ? std::optional(*std::move(id)) : std::nullopt;
}

constexpr std::array<std::size_t, 5> kGroupDigits = {8, 4, 4, 4, 12};
constexpr std::size_t kUuidBytes = 36;
constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";

// nullopt for an invalid digit, and for a number of more than 48 bits.
std::optional<std::uint64_t> parse_in_base(std::string_view text, std::uint64_t base) {
  if (text.empty() || text.size() > kGroupDigits.back()) {
    return std::nullopt;
  }
  std::uint64_t number = 0;
  for (const char c : text) {
    const auto digit = kDigits.find(ascii_lower(c));
    if (digit == std::string_view::npos || digit >= base) {
      return std::nullopt;
    }
    number = number * base + digit;
  }
  return number < (std::uint64_t{1} << 48U) ? std::optional(number) : std::nullopt;
}

std::string format_number(std::uint64_t number, std::uint64_t base) {
  std::string out;
  do {
    out.insert(out.begin(), kDigits[number % base]);
    number /= base;
  } while (number > 0);
  return out;
}

// Removes the part up to the next dash, with the dash, from `text` and returns it.
std::string_view next_group(std::string_view& text) {
  const auto dash = text.find('-');
  const std::string_view group = text.substr(0, dash);
  text.remove_prefix(dash == std::string_view::npos ? text.size() : dash + 1);
  return group;
}

}  // namespace

Result<> check_id(const SessionId& id) {
  if (!archive_name(id)) {
    return fail(Code::invalid_argument,
                cat("a chat directory names its sessions by UUIDs, and ", id.str(), " is not one"));
  }
  return {};
}

std::string step_folder_name(Step step) {
  const std::string number = std::to_string(step.value);
  return number.size() < 3 ? std::string(3 - number.size(), '0') + number : number;
}

std::string provider_for_original(std::string_view provider) {
  return std::string(provider.starts_with("openai-") ? "openai" : provider);
}

Result<bool> is_chat_directory(const fs::path& folder) {
  const Layout layout(folder);
  REPRISE_ASSIGN(const bool has_current, file_exists(layout.current_file()));
  if (has_current) {
    return true;
  }
  for (const Area area : {Area::chats, Area::archive}) {
    const auto found = layout.list(area);
    if (found && !found->empty()) {
      return true;
    }
  }
  return false;
}

fs::path Layout::archive(const SessionId& id) const {
  return archives() / archive_name(id).value_or("");
}

Result<std::optional<Location>> Layout::find(const SessionId& id) const {
  REPRISE_ASSIGN(std::vector<Location> found, find_all(id, 1));
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

Result<std::vector<Location>> Layout::find_all(const SessionId& id, std::size_t limit) const {
  std::vector<Location> found;
  if (!archive_name(id)) {
    return found;
  }
  const std::array<Location, 3> locations = {Location{chat(id), Area::chats},
                                             Location{trashed(id), Area::trash},
                                             Location{archive(id), Area::archive}};
  for (const Location& location : locations) {
    if (found.size() == limit) {
      break;
    }
    REPRISE_ASSIGN(const FileKind kind, kind_of(location.folder));
    if (!can_be_chat(location.folder, kind)) {
      continue;
    }
    REPRISE_ASSIGN(const Area area, location.area == Area::trash ? trash_area(location.folder)
                                                                 : Result<Area>(location.area));
    found.push_back({location.folder, area});
  }
  return found;
}

Result<std::vector<Layout::Listed>> Layout::list(Area area) const {
  const fs::path folder = area == Area::chats     ? chats()
                          : area == Area::archive ? archives()
                                                  : trash();
  REPRISE_ASSIGN(const auto entries, list_if_exists(folder));
  std::vector<Listed> found;
  for (const fs::directory_entry& entry : entries) {
    auto id = id_of(entry.path().filename().native(), area);
    if (!id) {
      continue;
    }
    REPRISE_ASSIGN(const FileKind kind, kind_of_entry(entry));
    if (!can_be_chat(entry.path(), kind)) {
      continue;
    }
    REPRISE_ASSIGN(const Area actual_area,
                   folder == trash() ? trash_area(entry.path()) : Result<Area>(area));
    found.push_back({*std::move(id), {entry.path(), actual_area}});
  }
  return found;
}

Result<std::vector<Layout::Listed>> Layout::list_all() const {
  std::vector<Listed> listed;
  for (const Area area : {Area::chats, Area::archive, Area::trash}) {
    REPRISE_ASSIGN(auto sessions, list(area));
    std::ranges::move(sessions, std::back_inserter(listed));
  }
  return listed;
}

fs::path Layout::folder_for(const SessionId& id, const Location& location) const {
  if (location.is_trashed()) {
    return trashed(id);
  }
  return location.is_packed() ? archive(id) : chat(id);
}

std::optional<std::string> archive_name(const SessionId& id) {
  std::string_view remaining = id.str();
  if (remaining.size() != kUuidBytes) {
    return std::nullopt;
  }
  std::string out;
  for (const std::size_t digits : kGroupDigits) {
    const std::string_view group = next_group(remaining);
    const auto number = parse_in_base(group, 16);
    if (group.size() != digits || !number) {
      return std::nullopt;
    }
    out += cat(out.empty() ? "" : "-", format_number(*number, 36));
  }
  return out;
}

std::optional<SessionId> parse_archive_name(std::string_view text) {
  std::string uuid;
  std::string_view remaining = text;
  for (const std::size_t digits : kGroupDigits) {
    const auto number = parse_in_base(next_group(remaining), 36);
    if (!number) {
      return std::nullopt;
    }
    const std::string hex = format_number(*number, 16);
    if (hex.size() > digits) {
      return std::nullopt;
    }
    uuid += cat(uuid.empty() ? "" : "-", std::string(digits - hex.size(), '0'), hex);
  }
  auto id = SessionId::parse(uuid);
  if (!remaining.empty() || !id || archive_name(*id) != ascii_lower(text)) {
    return std::nullopt;  // only the canonical spelling
  }
  return *std::move(id);
}

}  // namespace reprise::store::chatdir
