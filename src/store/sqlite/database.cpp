#include "store/sqlite/database.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <mutex>
#include <system_error>

#include "base/file.h"
#include "base/reserve.h"
#include "base/text.h"
#include "reprise/open_store.h"
#include "store/paths.h"
#include "store/rules.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/hot_journal.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/repair.h"
#include "store/sqlite/writer.h"

namespace reprise::sqlite {
namespace {

using std::filesystem::path;

constexpr std::size_t kIdleMax = 4;
constexpr std::size_t kFormatAt = 18;  // in the header: 2 if the database has a log

// Creates the file with mode 0600, since SQLite would create it with 0644.
Result<> create_file(const path& file) {
  const path folder = folder_of(file);
  REPRISE_TRY(make_private_folders(folder));
  auto fd = open_file(file, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (!fd) {
    return fd.error().code == Code::conflict ? Result<>() : std::unexpected(fd.error());
  }
  REPRISE_TRY(fd->close(file));
  return sync_folder(folder);
}

// SQLite follows no links to these files either, but cannot report them.
Result<> check_files(const path& file, Access access) {
  for (const char* const suffix : {"", "-wal", "-shm", "-journal"}) {
    const path sibling = store::beside(file, suffix);
    REPRISE_TRY(access == Access::write ? check_target(sibling) : check_source(sibling));
  }
  return {};
}

Result<bool> is_empty_or_missing(const path& file) {
  REPRISE_ASSIGN(const bool has_file, file_exists(file));
  std::error_code error;
  const auto size = has_file ? std::filesystem::file_size(file, error) : 0;
  return error ? std::unexpected(os_error("access", file, error.value())) : Result<bool>(size == 0);
}

Result<bool> has_log_format(const path& file) {
  REPRISE_ASSIGN(const Fd fd, open_file(file, O_RDONLY));
  std::array<char, 1> format{};
  REPRISE_TRY(read_at(fd.get(), format, kFormatAt, file));
  return format[0] == 2;
}

}  // namespace

Database::Reader::~Reader() {
  if (connection_ && keep_) {
    const std::lock_guard guard(database_->mutex_);
    if (database_->idle_.size() < kIdleMax) {
      database_->idle_.push_back({std::move(connection_), std::move(is_current_), is_salvaged_});
    }
  }
}

Result<> Database::Reader::check_unchanged() const {
  const std::filesystem::path& file = database_->file();
  if (unlocked_state_.empty() || state_of_files(file) == unlocked_state_) {
    return {};
  }
  return fail(Code::busy,
              cat("another program wrote to ", file.string(), " while it was read: try again"));
}

Result<std::unique_ptr<Database>> Database::open(const path& named, const StoreOptions& options) {
  REPRISE_ASSIGN(const path file, resolve_path(named));
  REPRISE_ASSIGN(const FileKind kind, kind_of_target(file));
  if (kind == FileKind::folder) {
    return fail(Code::invalid_argument, cat(file.string(), " is a folder: name a file in it"));
  }
  // Reading from a pipe or a device might block forever.
  if (kind == FileKind::other) {
    return fail(Code::invalid_argument, cat(file.string(), " is not a file; choose another"));
  }
  REPRISE_ASSIGN(const bool has_file, file_exists(file));
  if (!has_file) {
    if (options.access == Access::read) {
      return fail(Code::not_found, cat("no store at ", file.string()), ENOENT);
    }
    REPRISE_TRY(create_file(file));
  }
  REPRISE_TRY(check_files(file, options.access));
  std::unique_ptr<Database> database(new Database(file, options));
  REPRISE_TRY(database->prepare());
  return database;
}

// Checks the shape of the file. For writing it is migrated; a database that cannot be written (the
// disk is full, the folder is read-only) opens, and returns errors on writes.
Result<> Database::prepare() {
  REPRISE_ASSIGN(const Reader first, reader());
  if (options_.access == Access::read) {
    return {};
  }
  REPRISE_ASSIGN(const SchemaVersion schema, schema_version_of(*first));
  if (schema == SchemaVersion::current) {
    REPRISE_ASSIGN(const bool has_log, first->has_log());
    if (!has_log) {
      // For example, a repaired one. If it is impossible now, commits are as durable without a log.
      (void)writer_.run_exclusively([](Connection& connection) { return enable_wal(connection); });
    }
    return {};
  }
  return writer_.run_exclusively(
      [this](Connection& connection) { return make_current(connection, clock().now()); });
}

std::optional<Database::Idle> Database::pop_idle(bool is_salvaged) {
  const std::lock_guard guard(mutex_);
  for (auto idle = idle_.end(); idle != idle_.begin();) {
    --idle;
    if (idle->is_current && !idle->is_current()) {
      idle = idle_.erase(idle);
    } else if (idle->is_salvaged == is_salvaged) {
      std::optional<Idle> idle_reader = std::move(*idle);
      idle_.erase(idle);
      return idle_reader;
    }
  }
  return std::nullopt;
}

Result<Database::Reader> Database::reader() {
  if (auto idle = pop_idle(false); idle) {
    return Reader(*this, std::move(idle->connection), true, std::move(idle->is_current));
  }
  auto opened = connect();
  if (opened || opened.error().code != Code::corrupt || options_.access != Access::read) {
    return opened;
  }
  return salvaged();
}

Result<Database::Reader> Database::salvaged() {
  if (auto idle = pop_idle(true); idle) {
    return Reader(*this, std::move(idle->connection), true, std::move(idle->is_current), true);
  }
  std::string state = state_of_files(file_);
  REPRISE_ASSIGN(auto copy, salvaged_copy(file_, options_.busy_timeout, options_.on_progress));
  auto is_current = [file = file_, state = std::move(state)] {
    return state_of_files(file) == state;
  };
  return Reader(*this, std::move(copy), true, std::move(is_current), true);
}

Result<> Database::run(Durability durability, const Work& work) {
  if (options_.access == Access::read) {
    return std::unexpected(store::read_only(file_.string()));
  }
  auto done = writer_.run(durability, work);
  if (!done && done.error().code == Code::io) {
    forget_idle();
  }
  return done;
}

Result<> Database::delete_with_reserve(const Work& work,
                                       const std::function<Result<>()>& in_steps) {
  return with_reserve(lock_path(file_), [&] { return run(Durability::disk, work); }, in_steps);
}

Result<bool> Database::truncate_wal(std::chrono::milliseconds timeout) {
  if (options_.access == Access::read) {
    return std::unexpected(store::read_only(file_.string()));
  }
  return writer_.truncate_wal(timeout);
}

// SQLite opens files read-only if it cannot open them for writing, including the shared memory file
// on a full disk, and connections of one process share that file: close idle connections so that
// the next writer opens it again.
void Database::forget_idle() {
  std::vector<Idle> forgotten;
  const std::lock_guard guard(mutex_);
  forgotten.swap(idle_);
}

Result<bool> Database::lacks_shared_memory() const {
  REPRISE_ASSIGN(const bool has_memory, file_exists(store::beside(file_, "-shm")));
  return has_memory ? Result<bool>(false) : has_log_format(file_);
}

Result<Database::Reader> Database::connect() {
  constexpr int kAttempts = 10;
  const bool reads = options_.access == Access::read;
  for (int tries = 1;; ++tries) {
    REPRISE_ASSIGN(const auto journal, find_journal(file_));
    REPRISE_ASSIGN(const bool lacks_memory,
                   !journal && reads ? lacks_shared_memory() : Result<bool>(false));
    if (lacks_memory) {
      return connect_without_shared_memory();
    }
    auto opened = connect_as(reads ? OpenMode::read : OpenMode::write);
    if (opened || opened.error().code != Code::io) {
      return opened;
    }
    // Never ignore a journal: without it, the pages are inconsistent.
    auto fallback = journal ? connect_rolled_back(*journal) : connect_without_shared_memory();
    if (fallback || !journal) {
      return fallback ? std::move(fallback) : std::move(opened);
    }
    if (fallback.error().code != Code::conflict || tries == kAttempts) {
      return fallback;
    }
  }
}

// On a full disk or in a read-only folder, the shared memory file cannot be created, and reading
// creates no files: the log is indexed in memory instead, for one operation at a time.
Result<Database::Reader> Database::connect_without_shared_memory() {
  REPRISE_ASSIGN(const bool has_no_log, is_empty_or_missing(store::beside(file_, "-wal")));
  if (has_no_log) {
    std::string state = state_of_files(file_);
    REPRISE_ASSIGN(Reader unlocked, connect_as(OpenMode::read_immutable));
    unlocked.unlocked_state_ = std::move(state);
    return unlocked;
  }
  auto alone = connect_as(OpenMode::read_exclusive);
  if (alone || alone.error().code != Code::io) {
    return alone;
  }
  return connect_as(OpenMode::read_unlocked);
}

Result<Database::Reader> Database::connect_as(OpenMode mode) {
  REPRISE_ASSIGN(auto connection, Connection::open(file_, mode, options_.busy_timeout));
  return present(std::move(connection), mode == OpenMode::read || mode == OpenMode::write);
}

Result<Database::Reader> Database::connect_rolled_back(const JournalMark& journal) {
  REPRISE_ASSIGN(auto connection, open_rolled_back(file_, options_.busy_timeout));
  return present(std::move(connection), true, [file = file_, journal] {
    const auto now = find_journal(file);
    return now && *now == journal;
  });
}

// Presents the original program's database with our columns.
Result<Database::Reader> Database::present(std::unique_ptr<Connection> connection, bool keep,
                                           std::function<bool()> is_current) {
  REPRISE_ASSIGN(const SchemaVersion schema, schema_version_of(*connection));
  const bool reads = options_.access == Access::read;
  if (reads && schema == SchemaVersion::empty) {
    return fail(Code::not_found, cat("no store at ", file_.string(), ": the file is empty"));
  }
  if (reads && schema == SchemaVersion::original) {
    REPRISE_TRY(create_original_views(*connection));
  }
  return Reader(*this, std::move(connection), keep, std::move(is_current));
}

}  // namespace reprise::sqlite
