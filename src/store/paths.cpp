#include "store/paths.h"

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "reprise/error.h"

namespace reprise::store {

std::filesystem::path beside(const std::filesystem::path& file, std::string_view suffix) {
  std::filesystem::path name = file;
  name += suffix;
  return name;
}

bool is_there(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::exists(path, none);
}

Result<std::vector<std::filesystem::directory_entry>> list_folder(
    const std::filesystem::path& folder) {
  std::vector<std::filesystem::directory_entry> entries;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    entries.push_back(*entry);
  }
  if (error) {
    return std::unexpected(os_error("list", folder, error.value()));
  }
  return entries;
}

Result<std::vector<std::filesystem::directory_entry>> list_if_there(
    const std::filesystem::path& folder) {
  auto entries = list_folder(folder);
  const bool is_missing = !entries && entries.error().code == Code::not_found;
  return is_missing ? std::vector<std::filesystem::directory_entry>() : std::move(entries);
}

}  // namespace reprise::store
