#include "store/sqlite/copy.h"

#include <sqlite3.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "reprise/source.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {
namespace {

using std::filesystem::path;

constexpr int kPagesAtOnce = 1024;

// Copies a snapshot: a read transaction keeps it stable, while writers continue in the log.
Result<> copy_pages(Connection& source, Connection& copy, const ProgressSink& progress) {
  sqlite3_backup* backup = sqlite3_backup_init(copy.handle(), "main", source.handle(), "main");
  if (backup == nullptr) {
    return std::unexpected(copy.error(sqlite3_errcode(copy.handle())));
  }
  int stepped = SQLITE_OK;
  while (stepped == SQLITE_OK) {
    stepped = sqlite3_backup_step(backup, progress ? kPagesAtOnce : -1);
    const int total = sqlite3_backup_pagecount(backup);
    if (progress) {
      progress({"backing up", total - sqlite3_backup_remaining(backup), total});
    }
  }
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
  // The file is not visible before it is complete and synced, so it needs no journal.
  REPRISE_TRY(connection->script("PRAGMA journal_mode=OFF;PRAGMA synchronous=OFF"));
  return fill(*connection);
}

Result<> check_copy(const path& target) {
  REPRISE_ASSIGN(const auto copy,
                 Connection::open(target, OpenMode::read_immutable, std::chrono::milliseconds(0)));
  REPRISE_ASSIGN(Statement check, copy->query("PRAGMA quick_check(1)"));
  REPRISE_ASSIGN(const bool row, check.step());
  std::string answer = row ? check.text("quick_check") : std::string("no answer");
  if (answer != "ok") {
    std::ranges::replace(answer, '\n', ' ');
    return fail(Code::corrupt, cat("the copy ", without_temporary_names(target).string(),
                                   " is damaged: ", answer));
  }
  return {};
}

}  // namespace

Result<> copy_pages(Connection& source, const path& empty) {
  return fill_file(empty, [&source](Connection& copy) { return copy_pages(source, copy, {}); });
}

Result<> build_database(const path& named, const path& beside, const Fill& fill) {
  REPRISE_ASSIGN(const path target, resolve_folder_of(named));
  REPRISE_ASSIGN(const bool is_taken, file_exists(target));
  if (is_taken) {
    return fail(Code::conflict, cat(target.string(), " already exists: choose another name"));
  }
  REPRISE_ASSIGN(const path folder, resolve_folder_of(beside));
  REPRISE_ASSIGN(TemporaryFile file, TemporaryFile::create(folder));
  REPRISE_TRY(fill_file(file.name(), fill));
  REPRISE_TRY(check_copy(file.name()));
  REPRISE_TRY(sync_file(file.fd(), file.name()));
  REPRISE_TRY(move_file(file.name(), target));
  file.release();
  return {};
}

Result<> copy_database(Connection& source, const path& target, const path& beside,
                       const ProgressSink& progress, const std::function<Result<>()>& check) {
  return build_database(target, beside, [&](Connection& empty) -> Result<> {
    if (!progress) {
      REPRISE_TRY(copy_pages(source, empty, {}));
      return check ? check() : Result<>();
    }
    // Without it, each step could see another state, and the backup would restart after each
    // commit.
    REPRISE_ASSIGN(const Transaction snapshot, Transaction::begin(source, "BEGIN"));
    REPRISE_TRY(source.integer("SELECT count(*) FROM main.sqlite_schema"));
    REPRISE_TRY(copy_pages(source, empty, progress));
    return check ? check() : Result<>();
  });
}

}  // namespace reprise::sqlite
