#include "store/paths.h"

#include <fcntl.h>

#include <system_error>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace reprise::store {

Result<std::filesystem::path> resolved_path(const std::filesystem::path& named) {
  REPRISE_ASSIGN(const std::filesystem::path path, resolve_path(named));
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error).lexically_normal();
  if (error) {
    return std::unexpected(os_error("find", named, error.value()));
  }
  return whole.has_filename() ? whole : whole.parent_path();
}

std::filesystem::path beside(const std::filesystem::path& file, std::string_view suffix) {
  std::filesystem::path name = file;
  name += suffix;
  return name;
}

Result<> check_new(const std::filesystem::path& path) {
  REPRISE_ASSIGN(const bool is_taken, file_exists(path));
  return is_taken ? fail(Code::conflict, cat(path.native(), " already exists")) : Result<>();
}

Result<FileKind> kind_of_entry(const std::filesystem::directory_entry& entry) {
  // The listing has the kind of most entries; symlink_status() would ask for it again.
  std::error_code unknown;
  if (entry.is_symlink(unknown)) {
    return FileKind::link;
  }
  if (entry.is_regular_file(unknown)) {
    return FileKind::file;
  }
  return entry.is_directory(unknown) ? FileKind::folder : kind_of(entry.path());
}

Result<std::vector<std::filesystem::directory_entry>> list_folder(
    const std::filesystem::path& folder) {
  REPRISE_TRY(open_file(folder, O_PATH | O_DIRECTORY));
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

Result<std::vector<std::filesystem::directory_entry>> list_if_exists(
    const std::filesystem::path& folder) {
  REPRISE_ASSIGN(auto entries, if_exists(list_folder(folder)));
  return entries ? *std::move(entries) : std::vector<std::filesystem::directory_entry>();
}

}  // namespace reprise::store
