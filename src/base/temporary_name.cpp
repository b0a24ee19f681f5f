#include "base/temporary_name.h"

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <string_view>

#include "base/text.h"

namespace reprise {
namespace {

constexpr std::string_view kEnd = ".tmp";

// Takes ".<digits>" from the end.
bool take_number(std::string_view& name) {
  const std::size_t point = name.find_last_not_of("0123456789");
  if (point == std::string_view::npos || name[point] != '.' || point + 1 == name.size()) {
    return false;
  }
  name.remove_suffix(name.size() - point);
  return true;
}

}  // namespace

std::filesystem::path temporary_beside(const std::filesystem::path& path) {
  static std::atomic<unsigned> count{0};
  std::filesystem::path name = path;
  name += cat(".", ::getpid(), ".", count.fetch_add(1), kEnd);
  return name;
}

bool is_temporary_name(std::string_view name) {
  if (!name.ends_with(kEnd)) {
    return false;
  }
  name.remove_suffix(kEnd.size());
  return take_number(name) && take_number(name) && !name.empty();
}

}  // namespace reprise
