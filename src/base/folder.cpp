#include "base/folder.h"

#include <string_view>

#include "base/file.h"

namespace reprise {
namespace {

// Stands for bytes that are no UTF-8, so that the name is not the folder's.
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace

bool is_gone_folder(const std::filesystem::path& folder) {
  std::filesystem::path path = folder.lexically_normal();
  if (!path.has_filename()) {
    path = path.parent_path();  // "/a/b/" is "/a/b"
  }
  return path.is_absolute() && !path.native().contains(kReplacement) &&
         kind_of(path).value_or(FileKind::other) == FileKind::none &&
         is_folder(path.parent_path()).value_or(false);
}

}  // namespace reprise
