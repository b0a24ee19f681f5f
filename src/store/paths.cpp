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

fs::path numbered(const fs::path& file, std::string_view suffix, int number) {
  fs::path name = file;
  name += number == 0 ? cat(".", suffix) : cat(".", suffix, ".", number);
  return name;
}

bool holds(const fs::path& file, std::string_view bytes) {
  const auto there = read_file(file);
  return there && *there == bytes;
}

// A crash may leave it incomplete; then the original bytes are still in their file.
Result<> fill(const Fd& out, std::string_view bytes, const fs::path& name) {
  REPRISE_TRY(write_all(out.get(), bytes, name));
  REPRISE_TRY(sync_file(out.get(), name));
  return sync_folder(folder_of(name));
}

}  // namespace

Result<std::filesystem::path> resolved_path(const std::filesystem::path& named) {
  REPRISE_ASSIGN(const std::filesystem::path place, resolve_path(named));
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(place, error).lexically_normal();
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

Result<fs::path> quarantine(const fs::path& file, std::string_view bytes, std::string_view suffix) {
  for (int number = 0; number < kNamesMax; ++number) {
    fs::path name = numbered(file, suffix, number);
    auto created = open_file(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (!created && created.error().os_errno == EEXIST) {
      if (holds(name, bytes)) {
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
