#include "store/sqlite/copy.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>  // renameat2
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <system_error>

#include "base/file.h"
#include "base/text.h"
#include "reprise/error.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {
namespace {

using std::filesystem::path;

path folder_of(const path& file) {
  return file.parent_path().empty() ? path(".") : file.parent_path();
}

path temporary_beside(const path& target) {
  static std::atomic<unsigned> count{0};
  path name = target;
  name += cat(".", ::getpid(), ".", count.fetch_add(1), ".tmp");
  return name;
}

Result<> copy_pages(Connection& source, Connection& copy) {
  sqlite3_backup* backup = sqlite3_backup_init(copy.handle(), "main", source.handle(), "main");
  if (backup == nullptr) {
    return std::unexpected(copy.error(sqlite3_errcode(copy.handle())));
  }
  // In one step: a snapshot. Writers go on meanwhile, in the log.
  const int stepped = sqlite3_backup_step(backup, -1);
  const int code = sqlite3_backup_finish(backup);
  if (stepped != SQLITE_DONE) {
    return std::unexpected(code == SQLITE_OK ? source.error(stepped) : copy.error(code));
  }
  return {};
}

using Fill = std::function<Result<>(Connection& empty)>;

Result<> fill_file(const path& file, const Fill& fill) {
  REPRISE_ASSIGN(const auto connection,
                 Connection::open(file, OpenMode::write, std::chrono::milliseconds(0)));
  // Nobody sees the file before it is complete and synced, so it needs no journal.
  REPRISE_TRY(connection->script("PRAGMA journal_mode=OFF;PRAGMA synchronous=OFF"));
  return fill(*connection);
}

Result<> check_copy(const path& target) {
  REPRISE_ASSIGN(const auto copy,
                 Connection::open(target, OpenMode::read_immutable, std::chrono::milliseconds(0)));
  REPRISE_ASSIGN(Statement check, copy->query("PRAGMA quick_check(1)"));
  REPRISE_ASSIGN(const bool row, check.step());
  if (!row || check.bytes(0) != "ok") {
    return fail(Code::corrupt, cat("the copy ", target.string(), " is damaged: ",
                                   row ? check.text(0) : std::string("no answer")));
  }
  return {};
}

Result<> sync_path(const path& target) {
  REPRISE_ASSIGN(Fd fd, open_file(target, O_RDWR));
  REPRISE_TRY(sync_file(fd.get(), target));
  return fd.close(target);
}

// Renames without ever replacing.
Result<> put_in_place(const path& temporary, const path& target) {
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) != 0) {
    const int os_errno = errno;
    const bool unknown = os_errno == EINVAL || os_errno == ENOSYS;
    if (!unknown || ::link(temporary.c_str(), target.c_str()) != 0) {
      return std::unexpected(os_error("create", target, unknown ? errno : os_errno));
    }
    ::unlink(temporary.c_str());
  }
  return sync_folder(folder_of(target));
}

Result<> build_through(const path& temporary, const path& target, const Fill& fill) {
  REPRISE_ASSIGN(Fd fd, open_file(temporary, O_RDWR | O_CREAT | O_EXCL, 0600));
  REPRISE_TRY(fd.close(temporary));
  REPRISE_TRY(fill_file(temporary, fill));
  REPRISE_TRY(check_copy(temporary));
  REPRISE_TRY(sync_path(temporary));
  return put_in_place(temporary, target);
}

}  // namespace

Result<> build_database(const path& target, const Fill& fill) {
  std::error_code no_such_file;
  if (std::filesystem::exists(std::filesystem::symlink_status(target, no_such_file))) {
    return fail(Code::conflict, cat(target.string(), " exists: choose another name"));
  }
  const path temporary = temporary_beside(target);
  auto built = build_through(temporary, target, fill);
  if (!built) {
    ::unlink(temporary.c_str());
  }
  return built;
}

Result<> copy_database(Connection& source, const path& target) {
  return build_database(target, [&source](Connection& empty) { return copy_pages(source, empty); });
}

}  // namespace reprise::sqlite
