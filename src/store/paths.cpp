#include "store/paths.h"

#include <filesystem>
#include <string_view>
#include <system_error>

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

}  // namespace reprise::store
