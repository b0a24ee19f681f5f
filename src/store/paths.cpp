#include "store/paths.h"

#include <filesystem>
#include <string_view>
#include <system_error>
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

}  // namespace reprise::store
