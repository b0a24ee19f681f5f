#include "base/place.h"

#include <sys/stat.h>

#include <cerrno>

#include "base/file.h"
#include "base/utf8.h"

namespace reprise {

Place::Place(std::string folder) : folder_(std::move(folder)) {
  bool is_missing = false;
  identity_ = folder_.starts_with('/') ? identify(folder_, is_missing) : std::nullopt;
}

std::optional<Place::Identity> Place::identify(const std::string& folder, bool& is_missing) {
  struct stat status{};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init)
  if (::stat(folder.c_str(), &status) == 0) {
    return Identity(status.st_dev, status.st_ino);
  }
  is_missing = errno == ENOENT;
  return std::nullopt;
}

bool Place::is_at(std::string_view folder) {
  if (folder == folder_ || !identity_ || !folder.starts_with('/') ||
      !missing_part(folder).empty()) {
    return folder == folder_;
  }
  const auto [known, is_new] = known_.try_emplace(std::string(folder), false);
  if (is_new) {
    bool is_missing = false;
    known->second = identify(known->first, is_missing) == identity_;
    if (is_missing) {
      add_missing(folder);
    }
  }
  return known->second;
}

std::string_view Place::missing_part(std::string_view folder) const {
  for (std::size_t end = folder.find('/', 1); !missing_.empty(); end = folder.find('/', end + 1)) {
    const std::string_view part = folder.substr(0, end);
    if (missing_.contains(part)) {
      return part;
    }
    if (end == std::string_view::npos) {
      break;
    }
  }
  return {};
}

void Place::add_missing(std::string_view folder) {
  for (std::size_t end = folder.rfind('/'); end > 0 && folder.substr(0, end) != existing_;
       end = folder.rfind('/', end - 1)) {
    const std::string above(folder.substr(0, end));
    bool is_missing = false;
    (void)identify(above, is_missing);
    if (!is_missing) {
      existing_ = above;
      break;
    }
    folder = folder.substr(0, end);
  }
  missing_.insert(std::string(folder));
}

bool is_gone_folder(const std::filesystem::path& folder) {
  std::filesystem::path path = folder.lexically_normal();
  if (!path.has_filename()) {
    path = path.parent_path();  // "/a/b/" is "/a/b"
  }
  // Bytes that are no UTF-8 were replaced: the name is not the folder's.
  return path.is_absolute() && !path.native().contains(utf8::kReplacement) &&
         kind_of(path).value_or(FileKind::other) == FileKind::none &&
         is_folder(path.parent_path()).value_or(false);
}

}  // namespace reprise
