#include "store/sqlite/private_folder.h"

#include <fcntl.h>
#include <stdlib.h>  // mkdtemp
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <system_error>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "store/paths.h"

namespace reprise::sqlite {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kFolderName = "reprise-copy-";
constexpr std::string_view kInUseFile = ".lock";
constexpr int kAttemptsMax = 10;

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

constexpr int kCopyTries = 12;
constexpr std::chrono::milliseconds kFirstWait{5};
constexpr std::size_t kCopyPiece = std::size_t{1} << 20;
// The header of a log contains its salts, that of a database its change counter.
constexpr std::size_t kLogMarkBytes = 32;
constexpr std::size_t kDatabaseHeaderBytes = 100;
// At the end of the journal of a transaction over several databases. SQLite deletes the
// super-journal that it names, whatever file that is, so such a journal must not be copied.
constexpr std::string_view kSuperJournalMark = "\xD9\xD5\x05\xF9\x20\xA1\x63\xD7";

// Identifies the state of a file.
struct FileStamp {
  bool exists = false;
  std::int64_t bytes = 0;
  std::uint64_t inode = 0;
  std::int64_t changed_s = 0;
  std::int64_t changed_ns = 0;
  std::string header;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

Result<FileStamp> stamp_of(const fs::path& file, std::size_t header_bytes) {
  REPRISE_ASSIGN(const auto fd, if_exists(open_foreign(file)));
  if (!fd) {
    return FileStamp{};
  }
  REPRISE_ASSIGN(const struct stat status, status_of(fd->get(), file));
  FileStamp stamp{true,
                  status.st_size,
                  status.st_ino,
                  status.st_mtim.tv_sec,
                  status.st_mtim.tv_nsec,
                  std::string(header_bytes, '\0')};
  REPRISE_ASSIGN(const std::size_t count, read_at(fd->get(), stamp.header, 0, file));
  stamp.header.resize(count);
  return stamp;
}

struct FileStamps {
  FileStamp database;
  FileStamp log;
  FileStamp journal;
};

Result<FileStamps> stamps_of(const fs::path& file) {
  FileStamps stamps;
  REPRISE_ASSIGN(stamps.database, stamp_of(file, kDatabaseHeaderBytes));
  REPRISE_ASSIGN(stamps.log, stamp_of(store::beside(file, "-wal"), kLogMarkBytes));
  REPRISE_ASSIGN(stamps.journal, stamp_of(store::beside(file, "-journal"), 1));
  return stamps;
}

bool has_log(const FileStamps& stamps) {
  return stamps.log.exists && stamps.log.bytes > 0;
}

bool is_hot(const FileStamp& journal) {
  return journal.exists && !journal.header.empty() && journal.header[0] != '\0';
}

bool is_consistent(const FileStamps& before, const FileStamps& after) {
  if (before.database.inode != after.database.inode) {
    return false;
  }
  if (has_log(before)) {
    return before.log.inode == after.log.inode && before.log.header == after.log.header &&
           before.log.bytes <= after.log.bytes;
  }
  return !has_log(after) && before.database == after.database && before.journal == after.journal;
}

Result<> copy_contents(const fs::path& from, const fs::path& to) {
  REPRISE_ASSIGN(const auto source, if_exists(open_foreign(from)));
  if (!source) {
    return {};
  }
  REPRISE_ASSIGN(Fd target, open_file(to, O_WRONLY | O_CREAT | O_TRUNC, 0600));
  bool has_copied = false;
  for (;;) {
    // Lets the file system share the blocks.
    const ssize_t copied =
        ::copy_file_range(source->get(), nullptr, target.get(), nullptr, kCopyPiece << 10U, 0);
    if (copied == 0) {
      return target.close(to);
    }
    if (copied < 0 && errno != EINTR) {
      if (has_copied) {
        return std::unexpected(os_error("copy", from, errno));
      }
      REPRISE_TRY(copy_by_pieces(source->get(), target.get(), from, to));
      return target.close(to);
    }
    has_copied = has_copied || copied > 0;
  }
}

Result<bool> names_super_journal(const fs::path& journal) {
  REPRISE_ASSIGN(const Fd fd, open_file(journal, O_RDONLY));
  REPRISE_ASSIGN(const struct stat status, status_of(fd.get(), journal));
  std::string end(kSuperJournalMark.size(), '\0');
  const std::int64_t at = status.st_size - static_cast<std::int64_t>(end.size());
  if (at < 0) {
    return false;
  }
  REPRISE_TRY(read_at(fd.get(), end, at, journal));
  return end == kSuperJournalMark;
}

Result<> copy_all(const fs::path& file, const fs::path& to, const FileStamps& stamps) {
  REPRISE_TRY(copy_contents(file, to));
  for (const std::string_view suffix : {"-wal", "-journal"}) {
    REPRISE_TRY(remove_if_exists(store::beside(to, suffix)));
  }
  if (has_log(stamps)) {
    return copy_contents(store::beside(file, "-wal"), store::beside(to, "-wal"));
  }
  if (!is_hot(stamps.journal)) {
    return {};
  }
  const fs::path journal = store::beside(to, "-journal");
  REPRISE_TRY(copy_contents(store::beside(file, "-journal"), journal));
  REPRISE_ASSIGN(const bool is_shared, names_super_journal(journal));
  if (is_shared) {
    return fail(Code::corrupt, cat(file.native(),
                                   ": its journal belongs to several databases; let "
                                   "the program that wrote it open it"));
  }
  return {};
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
  for (int tries = 0; tries < kAttemptsMax; ++tries) {
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
    REPRISE_ASSIGN(const struct stat locked, status_of(lock.get(), in_use));
    if (named && named->st_ino == locked.st_ino && named->st_dev == locked.st_dev) {
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

Result<> copy_by_pieces(int from, int to, const fs::path& source, const fs::path& target) {
  const auto piece = std::make_unique_for_overwrite<char[]>(kCopyPiece);
  for (std::int64_t at = 0;;) {
    REPRISE_ASSIGN(const std::size_t count, read_at(from, {piece.get(), kCopyPiece}, at, source));
    if (count == 0) {
      return {};
    }
    REPRISE_TRY(write_all(to, {piece.get(), count}, target));
    at += static_cast<std::int64_t>(count);
  }
}

Result<> copy_foreign_files(const fs::path& file, const fs::path& to) {
  auto wait = kFirstWait;
  for (int tries = 0; tries < kCopyTries; ++tries) {
    REPRISE_ASSIGN(const FileStamps before, stamps_of(file));
    if (!before.database.exists) {
      return fail(Code::not_found, cat("no database at ", file.native()), ENOENT);
    }
    REPRISE_TRY(copy_all(file, to, before));
    REPRISE_ASSIGN(const FileStamps after, stamps_of(file));
    if (is_consistent(before, after)) {
      return {};
    }
    std::this_thread::sleep_for(wait);
    wait *= 2;
  }
  return fail(Code::busy, cat(file.native(),
                              " is constantly being written by another program: try again later"));
}

}  // namespace reprise::sqlite
