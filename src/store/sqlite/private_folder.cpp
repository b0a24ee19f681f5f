#include "store/sqlite/private_folder.h"

#include <fcntl.h>
#include <stdlib.h>  // mkdtemp
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/text.h"

namespace reprise::sqlite {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kFolderName = "reprise-copy-";
constexpr std::string_view kInUseFile = ".lock";
constexpr int kTriesMax = 10;

bool try_lock(const Fd& file) {
  return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
}

// Removes the folder if it is ours and its process is gone. Folders without a lock file, as made by
// older versions, may be in use.
void remove_abandoned(const fs::path& folder) {
  const auto status = find_status(folder).value_or(std::nullopt);
  if (!status || !S_ISDIR(status->st_mode) || status->st_uid != ::geteuid()) {
    return;
  }
  const auto lock = open_file(folder / kInUseFile, O_RDWR);
  if (lock && try_lock(*lock)) {
    (void)remove_tree(folder);  // the next one tries again
  }
}

void sweep(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename().native().starts_with(kFolderName)) {
      remove_abandoned(entry->path());
    }
  }
}

}  // namespace

Result<PrivateFolder> PrivateFolder::make() {
  std::error_code error;
  fs::path parent = fs::temp_directory_path(error);
  if (error) {
    parent = "/tmp";
  }
  REPRISE_ASSIGN(parent, resolve_path(parent));
  sweep(parent);
  for (int tries = 0; tries < kTriesMax; ++tries) {
    std::string path = (parent / cat(kFolderName, "XXXXXX")).native();
    if (::mkdtemp(path.data()) == nullptr) {
      return std::unexpected(os_error("create a folder in", parent, errno));
    }
    const fs::path in_use = fs::path(path) / kInUseFile;
    REPRISE_ASSIGN(Fd lock, open_file(in_use, O_RDWR | O_CREAT | O_EXCL, 0600));
    // Another process may have taken it for abandoned before it was locked.
    if (!try_lock(lock) && errno == EWOULDBLOCK) {
      continue;
    }
    REPRISE_ASSIGN(const auto named, find_status(in_use));
    REPRISE_ASSIGN(const struct stat own, status_of(lock.get(), in_use));
    if (named && named->st_ino == own.st_ino && named->st_dev == own.st_dev) {
      return PrivateFolder(std::move(path), std::move(lock));
    }
  }
  return fail(Code::busy, cat("cannot create a folder in ", parent.native(), ": try again"));
}

PrivateFolder::~PrivateFolder() {
  if (!path_.empty()) {
    std::error_code ignored;  // files that cannot be removed are readable only for their owner
    fs::remove_all(path_, ignored);
  }
}

}  // namespace reprise::sqlite
