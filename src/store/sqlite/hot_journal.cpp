#include "store/sqlite/hot_journal.h"

#include <fcntl.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "store/paths.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/private_folder.h"

namespace reprise::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPartBytes = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kRetryInterval{10};

// The database file through SQLite's own handle: opening and closing it separately would drop this
// process's locks on it.
class SharedFile {
 public:
  // Prevents changes of the file and its journal until the destructor, since both need an exclusive
  // lock.
  static Result<SharedFile> lock(Connection& connection, std::chrono::milliseconds timeout) {
    sqlite3_file* file = nullptr;
    const int found = sqlite3_file_control(connection.handle(), "main", SQLITE_FCNTL_FILE_POINTER,
                                           static_cast<void*>(&file));
    if (found != SQLITE_OK || file == nullptr || file->pMethods == nullptr) {
      return std::unexpected(connection.error(found == SQLITE_OK ? SQLITE_CANTOPEN : found));
    }
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    int code = file->pMethods->xLock(file, SQLITE_LOCK_SHARED);
    while ((code & 0xFF) == SQLITE_BUSY && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(kRetryInterval);
      code = file->pMethods->xLock(file, SQLITE_LOCK_SHARED);
    }
    if (code != SQLITE_OK) {
      return std::unexpected(connection.error(code));
    }
    return SharedFile(connection, file);
  }
  SharedFile(SharedFile&& other) noexcept
      : connection_(other.connection_), file_(std::exchange(other.file_, nullptr)) {}
  SharedFile& operator=(SharedFile&&) = delete;
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  ~SharedFile() {
    if (file_ != nullptr) {
      file_->pMethods->xUnlock(file_, SQLITE_LOCK_NONE);
    }
  }

  // Whether a writer is in its transaction.
  Result<bool> is_reserved() {
    int reserved = 0;
    REPRISE_TRY(check(file_->pMethods->xCheckReservedLock(file_, &reserved)));
    return reserved != 0;
  }

  Result<> copy_to(const fs::path& target) {
    REPRISE_ASSIGN(Fd copy, open_file(target, O_WRONLY | O_CREAT | O_EXCL, 0600));
    sqlite3_int64 size = 0;
    REPRISE_TRY(check(file_->pMethods->xFileSize(file_, &size)));
    std::vector<char> part(kPartBytes);
    for (sqlite3_int64 at = 0; at < size;) {
      const auto count = static_cast<int>(std::min<sqlite3_int64>(kPartBytes, size - at));
      REPRISE_TRY(check(file_->pMethods->xRead(file_, part.data(), count, at)));
      REPRISE_TRY(write_all(copy.get(), {part.data(), static_cast<std::size_t>(count)}, target));
      at += count;
    }
    return copy.close(target);
  }

 private:
  SharedFile(Connection& connection, sqlite3_file* file) : connection_(&connection), file_(file) {}
  Result<> check(int code) const {
    return code == SQLITE_OK ? Result<>() : std::unexpected(connection_->error(code));
  }

  Connection* connection_;
  sqlite3_file* file_;
};

Result<> copy_file_if_exists(const fs::path& from, const fs::path& to) {
  REPRISE_ASSIGN(const auto source, if_exists(open_file(from, O_RDONLY)));
  if (!source) {
    return {};
  }
  REPRISE_ASSIGN(Fd copy, open_file(to, O_WRONLY | O_CREAT | O_EXCL, 0600));
  REPRISE_TRY(copy_by_pieces(source->get(), copy.get(), from, to));
  return copy.close(to);
}

Result<> copy_files(const fs::path& file, const fs::path& to, std::chrono::milliseconds timeout) {
  REPRISE_ASSIGN(const auto connection, Connection::open(file, OpenMode::read, timeout));
  REPRISE_ASSIGN(SharedFile shared, SharedFile::lock(*connection, timeout));
  REPRISE_ASSIGN(const bool is_reserved, shared.is_reserved());
  REPRISE_ASSIGN(const auto journal, find_journal(file));
  if (is_reserved || !journal) {
    return fail(Code::conflict, cat(file.string(), " has no hot journal any more"));
  }
  REPRISE_TRY(shared.copy_to(to));
  for (const std::string_view suffix : {"-journal", "-wal"}) {
    REPRISE_TRY(copy_file_if_exists(store::beside(file, suffix), store::beside(to, suffix)));
  }
  return {};
}

Result<std::unique_ptr<Connection>> open_copy(const fs::path& file,
                                              std::chrono::milliseconds timeout) {
  REPRISE_ASSIGN(const PrivateFolder folder, PrivateFolder::make());
  const fs::path copy = folder.path() / file.filename();
  REPRISE_TRY(copy_files(file, copy, timeout));
  // Exclusive, so that the files remain open when they are unlinked.
  REPRISE_ASSIGN(auto connection, Connection::open(copy, OpenMode::read_exclusive, timeout));
  REPRISE_TRY(connection->integer("SELECT count(*) FROM main.sqlite_schema"));
  connection->set_file(file);
  return connection;
}

}  // namespace

Result<std::optional<JournalMark>> find_journal(const fs::path& file) {
  const fs::path journal = store::beside(file, "-journal");
  REPRISE_ASSIGN(const auto status, find_status(journal));
  if (!status) {
    return std::nullopt;
  }
  // A journal with a zeroed header is finished. An unreadable one may be hot.
  std::array<char, 1> first{1};
  if (const auto fd = open_file(journal, O_RDONLY); fd) {
    (void)read_at(fd->get(), first, 0, journal);
  }
  if (status->st_size == 0 || first[0] == 0) {
    return std::nullopt;
  }
  return JournalMark{status->st_size, status->st_mtim.tv_sec, status->st_mtim.tv_nsec};
}

Result<std::unique_ptr<Connection>> open_rolled_back(const fs::path& file,
                                                     std::chrono::milliseconds busy_timeout) {
  auto opened = open_copy(file, busy_timeout);
  if (!opened && opened.error().code != Code::conflict) {
    return fail_with_context(
        cat(file.string(),
            ": a program was killed while it wrote, and what it had not finished "
            "cannot be rolled back in a copy"),
        opened.error());
  }
  return opened;
}

}  // namespace reprise::sqlite
