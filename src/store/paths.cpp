#include "store/paths.h"

#include <fcntl.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace reprise::store {
namespace {

namespace fs = std::filesystem;

constexpr int kNamesMax = 10'000;

bool has_contents(const fs::path& file, std::string_view bytes) {
  const auto contents = read_file(file);
  return contents && *contents == bytes;
}

// A crash may leave it incomplete; then the original bytes are still in their file.
Result<> fill(const Fd& out, std::string_view bytes, const fs::path& name) {
  REPRISE_TRY(write_all(out.get(), bytes, name));
  REPRISE_TRY(sync_file(out.get(), name));
  return sync_folder(folder_of(name));
}

}  // namespace

Result<fs::path> resolved_path(const fs::path& path) {
  REPRISE_ASSIGN(const fs::path resolved, resolve_path(path));
  std::error_code error;
  const fs::path absolute = fs::absolute(resolved, error).lexically_normal();
  if (error) {
    return std::unexpected(os_error("find", path, error.value()));
  }
  return absolute.has_filename() ? absolute : absolute.parent_path();
}

fs::path beside(const fs::path& file, std::string_view suffix) {
  fs::path name = file;
  name += suffix;
  return name;
}

Result<> check_new(const fs::path& path) {
  REPRISE_ASSIGN(const bool exists, file_exists(path));
  return exists ? fail(Code::conflict, cat(path.native(), " already exists")) : Result<>();
}

Result<FileKind> kind_of_entry(const fs::directory_entry& entry) {
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

Result<std::vector<fs::directory_entry>> list_folder(const fs::path& folder) {
  REPRISE_TRY(open_file(folder, O_PATH | O_DIRECTORY));
  std::vector<fs::directory_entry> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    entries.push_back(*entry);
  }
  if (error) {
    return std::unexpected(os_error("list", folder, error.value()));
  }
  return entries;
}

Result<std::vector<fs::directory_entry>> list_if_exists(const fs::path& folder) {
  REPRISE_ASSIGN(auto entries, if_exists(list_folder(folder)));
  return entries ? *std::move(entries) : std::vector<fs::directory_entry>();
}

Result<fs::path> quarantine(const fs::path& file, std::string_view bytes, std::string_view suffix) {
  for (int number = 0; number < kNamesMax; ++number) {
    fs::path name = beside(file, number == 0 ? cat(".", suffix) : cat(".", suffix, ".", number));
    auto created = open_file(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (!created && created.error().os_errno == EEXIST) {
      if (has_contents(name, bytes)) {
        return name;
      }
      continue;
    }
    REPRISE_ASSIGN(const Fd out, std::move(created));
    REPRISE_TRY(fill(out, bytes, name));
    return name;
  }
  return fail(Code::conflict, cat("cannot set ", file.native(), " aside: there are ", kNamesMax,
                                  " such files already"));
}

}  // namespace reprise::store
