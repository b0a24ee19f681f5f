#include "store/sqlite/connection.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstddef>

#include "base/assert.h"
#include "base/command_line.h"
#include "base/file.h"
#include "base/text.h"
#include "base/utf8.h"
#include "store/sqlite/library.h"

namespace reprise::sqlite {
namespace {

constexpr int kPrimary = 0xFF;  // the bits of a result code for its primary code

int int_size(std::string_view bytes) {
  return bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())
             ? -1
             : static_cast<int>(bytes.size());
}

// A file name as a URI, which can have options for SQLite.
std::string uri_of(const std::filesystem::path& file, std::string_view options) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(file).string()) {
    if (is_ascii_alnum(c) || c == '/' || c == '.' || c == '-' || c == '_') {
      uri += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      uri += cat('%', kHex[byte >> 4U], kHex[byte & 15U]);
    }
  }
  return cat(uri, "?", options);
}

std::string_view options_of(OpenMode mode) {
  switch (mode) {
    case OpenMode::read:
      return "mode=ro";
    case OpenMode::read_immutable:
      return "mode=ro&immutable=1";
    case OpenMode::read_unlocked:
      return "mode=ro&vfs=unix-none";
    case OpenMode::read_exclusive:
    case OpenMode::write:
      break;
  }
  return "mode=rw";
}

bool is_of_content(int code) {
  switch (code & kPrimary) {
    case SQLITE_ERROR:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_SCHEMA:
    case SQLITE_TOOBIG:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_FORMAT:
    case SQLITE_RANGE:
      return true;
    default:
      return code == SQLITE_IOERR_SHORT_READ || code == SQLITE_IOERR_DATA;
  }
}

int note_log_pages(void* connection, sqlite3* /*handle*/, const char* /*schema*/, int pages) {
  static_cast<Connection*>(connection)->set_log_pages(pages);
  return SQLITE_OK;
}

// What the machine lacks, which SQLite's code does not tell; "" if it is something else.
std::string_view machine_reason(int code, int os_errno) {
  const int primary = code & kPrimary;
  if (primary == SQLITE_NOMEM) {
    return "out of memory";
  }
  if (primary != SQLITE_CANTOPEN && primary != SQLITE_IOERR) {
    return "";
  }
  switch (os_errno) {
    case EMFILE:
    case ENFILE:
      return "too many open files: close some, or raise the limit (ulimit -n)";
    case ENOMEM:
      return "out of memory";
    case ENOLCK:
      return "locks do not work on its file system: mount it with locks, or use a local folder";
    case ENODEV:
    case EOPNOTSUPP:
      return code == SQLITE_IOERR_SHMMAP
                 ? "its file system has no shared memory for its log: use a local folder"
                 : "";
    default:
      return "";
  }
}

}  // namespace

Error error_of(int code, int os_errno, std::string_view detail, const std::filesystem::path& file) {
  const std::string name = without_temporary_names(file).string();
  const auto error = [&](Code kind, std::string_view reason, std::string_view hint) {
    return Error{kind, cat(name, ": ", reason, hint), os_errno};
  };
  if (const std::string_view reason = machine_reason(code, os_errno); !reason.empty()) {
    return error(Code::io, reason, "");
  }
  switch (code & kPrimary) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return error(Code::busy, "locked by another program", ": wait for it, then try again");
    case SQLITE_FULL: {
      Error full = error(Code::io, "the disk is full", ": free some space and try again");
      full.os_errno = os_errno != 0 ? os_errno : ENOSPC;
      return full;
    }
    case SQLITE_CORRUPT:
      return error(
          Code::corrupt, "the database is damaged",
          cat(": run `", shell_command({"--store", cat("sqlite:", name), "verify", "--repair"}),
              "`"));
    case SQLITE_NOTADB:
      return error(Code::corrupt, "not an SQLite database",
                   ": restore a backup, or choose another file");
    case SQLITE_READONLY:
      return error(Code::io, "cannot be written",
                   ": check the permissions of the file and its folder");
    case SQLITE_CANTOPEN:
      return error(Code::io, "cannot be opened",
                   ": check the permissions of the file and its folder");
    case SQLITE_IOERR:
      return error(Code::io, cat("reading or writing failed (", detail, ")"),
                   ": check the disk and its free space");
    case SQLITE_TOOBIG:
      return error(Code::invalid_argument, "a value is larger than 1 GB", ": split it");
    default:
      return error(Code::io, detail, "");
  }
}

Statement::~Statement() {
  if (statement_ != nullptr) {
    sqlite3_reset(statement_);
  }
}

Statement& Statement::restart() {
  sqlite3_reset(statement_);
  bound_ = 0;
  return *this;
}

void Statement::check_bound(int code) {
  if (code != SQLITE_OK && failed_ == 0) {
    failed_ = code;
  }
}

Statement& Statement::bind(std::string_view text) {
  const int size = int_size(text);
  // An empty view may have a null pointer, which SQLite would bind as NULL.
  check_bound(size < 0 ? SQLITE_TOOBIG
                       : sqlite3_bind_text(statement_, ++bound_, text.empty() ? "" : text.data(),
                                           size, SQLITE_STATIC));
  return *this;
}

Statement& Statement::bind(std::int64_t number) {
  check_bound(sqlite3_bind_int64(statement_, ++bound_, number));
  return *this;
}

Statement& Statement::bind(Blob blob) {
  const int size = int_size(blob.bytes);
  check_bound(size < 0 ? SQLITE_TOOBIG
                       : sqlite3_bind_blob(statement_, ++bound_,
                                           blob.bytes.empty() ? "" : blob.bytes.data(), size,
                                           SQLITE_STATIC));
  return *this;
}

Statement& Statement::bind_real(double number) {
  check_bound(sqlite3_bind_double(statement_, ++bound_, number));
  return *this;
}

Statement& Statement::bind_encoded(std::string_view text, std::uint32_t encoding) {
  check_bound(sqlite3_bind_text64(statement_, ++bound_, text.empty() ? "" : text.data(),
                                  text.size(), SQLITE_STATIC,
                                  static_cast<unsigned char>(encoding)));
  return *this;
}

Statement& Statement::bind(std::nullopt_t) {
  check_bound(sqlite3_bind_null(statement_, ++bound_));
  return *this;
}

Statement& Statement::bind_column(const Statement& row, std::string_view column) {
  check_bound(sqlite3_bind_value(
      statement_, ++bound_,
      sqlite3_column_value(row.statement_, static_cast<int>(row.columns_->at(column)))));
  return *this;
}

Result<bool> Statement::step() {
  if (failed_ != 0) {
    return std::unexpected(connection_->error(failed_));
  }
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) {
    return true;
  }
  if (code == SQLITE_DONE) {
    return false;
  }
  return std::unexpected(connection_->error(code));
}

Result<> Statement::run() {
  while (true) {
    REPRISE_ASSIGN(const bool row, step());
    if (!row) {
      return {};
    }
  }
}

bool Statement::is_null(store::Column column) const {
  return sqlite3_column_type(statement_, static_cast<int>(column)) == SQLITE_NULL;
}

bool Statement::is_integer(std::string_view column) const {
  return sqlite3_column_type(statement_, static_cast<int>(columns_->at(column))) == SQLITE_INTEGER;
}

std::int64_t Statement::integer(store::Column column) const {
  return sqlite3_column_int64(statement_, static_cast<int>(column));
}

std::int64_t Statement::first_integer() const {
  return sqlite3_column_int64(statement_, 0);
}

std::string_view Statement::bytes(store::Column column) const {
  const int at = static_cast<int>(column);
  // Reading as a blob never converts: it returns the stored bytes of text. Null for NULL.
  const void* data = sqlite3_column_blob(statement_, at);
  if (data == nullptr) {
    return {};
  }
  return {static_cast<const char*>(data),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, at))};
}

std::size_t Statement::size(store::Column column) const {
  return static_cast<std::size_t>(sqlite3_column_bytes(statement_, static_cast<int>(column)));
}

std::string Statement::text(std::string_view column) const {
  std::string out;
  text(columns_->at(column), out);
  return out;
}

void Statement::text(store::Column column, std::string& out) const {
  const std::string_view raw = bytes(column);
  if (raw.empty()) {
    out.clear();
  } else if (utf8::is_valid(raw)) {
    out.assign(raw);
  } else {
    out = utf8::sanitize(raw);
  }
}

Result<std::unique_ptr<Connection>> Connection::open_as(const std::string& name, int flags,
                                                        const std::filesystem::path& file) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags, shared_memory_vfs());
  std::unique_ptr<Connection> connection(new Connection(handle, file));
  if (handle == nullptr) {
    return fail(Code::io, cat(file.string(), ": out of memory while opening it"), ENOMEM);
  }
  if (code != SQLITE_OK) {
    return std::unexpected(connection->error(code));
  }
  return connection;
}

Result<std::unique_ptr<Connection>> Connection::open_temporary(const std::filesystem::path& file) {
  constexpr int kFlags =
      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  REPRISE_ASSIGN(auto connection, open_as("", kFlags, file));
  REPRISE_TRY(connection->configure(OpenMode::write, Pages::plain));
  REPRISE_TRY(connection->script("PRAGMA journal_mode=OFF;PRAGMA synchronous=OFF"));
  return connection;
}

Result<std::unique_ptr<Connection>> Connection::open(const std::filesystem::path& file,
                                                     OpenMode mode,
                                                     std::chrono::milliseconds busy_timeout,
                                                     Pages pages) {
  const bool writes = mode == OpenMode::write || mode == OpenMode::read_exclusive;
  const int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    SQLITE_OPEN_NOFOLLOW | (writes ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
  std::string options(options_of(mode));
  if (pages == Pages::checked) {
    (void)shared_memory_vfs();  // registers the other one, too
    options += cat("&vfs=", kCheckedVfs);
  }
  REPRISE_ASSIGN(auto connection, open_as(uri_of(file, options), flags, file));
  if (mode != OpenMode::read_immutable && mode != OpenMode::read_unlocked) {
    // SQLite locks nothing before the first statement.
    REPRISE_ASSIGN(LockedFile locks, LockedFile::protect(file));
    connection->locks_.emplace(std::move(locks));
  }
  connection->set_busy_timeout(busy_timeout);
  REPRISE_TRY(connection->configure(mode, pages));
  return connection;
}

Result<> Connection::configure(OpenMode mode, Pages pages) {
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_FKEY, 1, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  // Our triggers are for the statements of other programs. Even a trigger with a false WHEN costs
  // more than the insert itself. Foreign keys are still enforced.
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  add_functions(handle_, titles_left_);
  // Replaces the automatic checkpoint.
  sqlite3_wal_hook(handle_, note_log_pages, this);
  if (pages == Pages::checked) {
    int bytes = kChecksumBytes;
    sqlite3_file_control(handle_, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
  }
  if (mode == OpenMode::read_exclusive || mode == OpenMode::read_unlocked) {
    return script("PRAGMA locking_mode=EXCLUSIVE");
  }
  return {};
}

Result<bool> Connection::has_log() {
  REPRISE_ASSIGN(Statement mode, query("PRAGMA journal_mode"));
  REPRISE_ASSIGN(const bool has_row, mode.step());
  return has_row && mode.bytes("journal_mode") == "wal";
}

bool Connection::has_failed_to_map() const {
  return sqlite3_extended_errcode(handle_) == SQLITE_IOERR_SHMMAP;
}

bool Connection::has_moved() const {
  int moved = 0;
  return sqlite3_file_control(handle_, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK &&
         moved != 0;
}

Connection::~Connection() {
  for (const auto& [sql, prepared] : statements_) {
    sqlite3_finalize(prepared.statement);
  }
  sqlite3_close_v2(handle_);
}

Result<Statement> Connection::prepare(std::string_view sql) {
  if (const auto found = statements_.find(sql); found != statements_.end()) {
    return Statement(*this, found->second);
  }
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) {
    return std::unexpected(error(code));
  }
  Prepared& prepared = statements_[std::string(sql)];
  prepared.statement = statement;
  for (int column = 0; column < sqlite3_column_count(statement); ++column) {
    prepared.columns.add(sqlite3_column_name(statement, column));
  }
  return Statement(*this, prepared);
}

Result<> Connection::script(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Result<>() : std::unexpected(error(code));
}

std::int64_t Connection::changes() const {
  return sqlite3_changes64(handle_);
}

bool Connection::in_transaction() const {
  return sqlite3_get_autocommit(handle_) == 0;
}

void Connection::set_busy_timeout(std::chrono::milliseconds timeout) {
  sqlite3_busy_timeout(handle_, static_cast<int>(timeout.count()));
}

std::unexpected<Error> Connection::wrong_content(std::string_view what) {
  has_wrong_content_ = true;
  return fail(Code::corrupt, cat(file_.string(), ": ", what));
}

Error Connection::error(int code) const {
  has_wrong_content_ = has_wrong_content_ || is_of_content(code);
  const bool is_ours = (code & kPrimary) != (sqlite3_errcode(handle_) & kPrimary);
  return error_of(code, sqlite3_system_errno(handle_),
                  is_ours ? sqlite3_errstr(code) : sqlite3_errmsg(handle_), file_);
}

ProgressHandler::ProgressHandler(Connection& connection, std::function<void()> tick)
    : connection_(connection), tick_(std::move(tick)) {
  constexpr int kSteps = 20'000;  // instructions of SQLite's virtual machine: some milliseconds
  const auto call = [](void* watch) {
    static_cast<ProgressHandler*>(watch)->tick_();
    return 0;  // continue
  };
  sqlite3_progress_handler(connection_.handle(), kSteps, call, this);
}

ProgressHandler::~ProgressHandler() {
  sqlite3_progress_handler(connection_.handle(), 0, nullptr, nullptr);
}

Result<Transaction> Transaction::begin(Connection& connection, std::string_view statement) {
  REPRISE_TRY(connection.run(statement));
  return Transaction(connection);
}

Transaction::~Transaction() {
  if (connection_ != nullptr && connection_->in_transaction()) {
    // If this fails too, SQLite rolls back by itself.
    (void)connection_->run("ROLLBACK");
  }
}

Result<> Transaction::commit() {
  REPRISE_ASSERT(connection_ != nullptr);  // commit() may be called once
  REPRISE_TRY(connection_->run("COMMIT"));
  connection_ = nullptr;
  return {};
}

}  // namespace reprise::sqlite
