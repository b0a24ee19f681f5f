#include "store/sqlite/private_folder.h"

#include <stdlib.h>  // mkdtemp

#include <cerrno>
#include <system_error>

namespace reprise::sqlite {

namespace fs = std::filesystem;

Result<PrivateFolder> PrivateFolder::make() {
  std::error_code error;
  fs::path parent = fs::temp_directory_path(error);
  if (error) {
    parent = "/tmp";
  }
  REPRISE_ASSIGN(parent, resolve_path(parent));
  std::string pattern = (parent / "reprise-copy-XXXXXX").native();
  if (::mkdtemp(pattern.data()) == nullptr) {
    return std::unexpected(os_error("create a folder in", parent, errno));
  }
  return PrivateFolder(std::move(pattern));
}

PrivateFolder::~PrivateFolder() {
  if (!path_.empty()) {
    std::error_code ignored;  // files that cannot be removed are readable only for their owner
    fs::remove_all(path_, ignored);
  }
}

}  // namespace reprise::sqlite
