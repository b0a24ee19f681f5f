#pragma once

// Wraps SQLite's C interface with results and destructors. One thread at a time.

#include <chrono>      // IWYU pragma: export
#include <filesystem>  // IWYU pragma: export
#include <functional>  // IWYU pragma: export
#include <limits>      // IWYU pragma: export
#include <memory>      // IWYU pragma: export
#include <optional>    // IWYU pragma: export
#include <type_traits>
#include <unordered_map>  // IWYU pragma: export
#include <vector>

#include "base/file.h"
#include "reprise/error.h"       // IWYU pragma: export
#include "store/column_names.h"  // IWYU pragma: export

struct sqlite3;
struct sqlite3_stmt;

namespace reprise::sqlite {

class Connection;

struct Blob {  // bytes bound as a blob, not as text
  std::string_view bytes;
};

struct Prepared {
  sqlite3_stmt* statement = nullptr;
  store::ColumnNames columns;
};

// A prepared statement with its values, borrowed from the connection's cache and returned by the
// destructor. Text is not copied: it must outlive the statement's last step.
class Statement {
 public:
  Statement(Connection& connection, Prepared& prepared)
      : connection_(&connection), statement_(prepared.statement), columns_(&prepared.columns) {}
  Statement(Statement&& other) noexcept
      : connection_(other.connection_),
        statement_(std::exchange(other.statement_, nullptr)),
        columns_(other.columns_),
        bound_(other.bound_),
        failed_(other.failed_) {}
  Statement& operator=(Statement&&) = delete;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  // For another run: the next value binds the first parameter.
  Statement& restart();
  // Binds the next parameters, in order. Errors are returned by the next step().
  Statement& bind(std::string_view text);
  Statement& bind(const char* text) { return bind(std::string_view(text)); }
  Statement& bind(const std::string& text) { return bind(std::string_view(text)); }
  Statement& bind(std::int64_t number);
  Statement& bind(Blob blob);
  Statement& bind_real(double number);
  // Text in another of SQLite's encodings.
  Statement& bind_encoded(std::string_view text, std::uint32_t encoding);
  Statement& bind(std::nullopt_t);
  // A column of another statement's row, of any type.
  Statement& bind_column(const Statement& row, std::string_view column);
  template <class Value>
  Statement& bind(const std::optional<Value>& value) {
    return value ? bind(*value) : bind(std::nullopt);
  }

  // True if there is a row.
  Result<bool> step();
  // Runs the statement to its end.
  Result<> run();
  // Calls `row`, which returns nothing or a Result<>, for each remaining row.
  template <class Row>
  Result<> each(const Row& row);

  // Columns by their names in the statement.
  bool is_null(std::string_view column) const { return is_null(columns_->at(column)); }
  bool is_integer(std::string_view column) const;
  std::int64_t integer(std::string_view column) const { return integer(columns_->at(column)); }
  // The raw bytes of text or a blob; valid until the next step().
  std::string_view bytes(std::string_view column) const { return bytes(columns_->at(column)); }
  std::string text(std::string_view column) const;  // invalid UTF-8 becomes U+FFFD

  // The same by column(), or by columns() that are looked up once for all rows.
  store::Column column(std::string_view name) const { return columns_->at(name); }
  template <class Fields>
  std::span<const store::Column> columns(const Fields& fields) const {
    return columns_->of(fields);
  }
  bool is_null(store::Column column) const;
  std::int64_t integer(store::Column column) const;
  std::string_view bytes(store::Column column) const;
  std::size_t size(store::Column column) const;  // of bytes()
  void text(store::Column column, std::string& out) const;

 private:
  friend class Connection;
  void check_bound(int code);
  std::int64_t first_integer() const;

  Connection* connection_;
  sqlite3_stmt* statement_;
  const store::ColumnNames* columns_;
  int bound_ = 0;
  int failed_ = 0;
};

template <class Row>
Result<> Statement::each(const Row& row) {
  while (true) {
    REPRISE_ASSIGN(const bool has_row, step());
    if (!has_row) {
      return {};
    }
    if constexpr (std::is_void_v<decltype(row())>) {
      row();
    } else {
      REPRISE_TRY(row());
    }
  }
}

enum class OpenMode : std::uint8_t {
  read,            // creates and changes no files
  read_immutable,  // for a file that nobody can change: no locks, no log
  read_exclusive,  // locks out others, needs no shared memory file
  read_unlocked,   // read_exclusive on file systems without locks
  write,           // the file must exist
};

// Checked: see kCheckedVfs. Not for read_unlocked.
enum class Pages : std::uint8_t { plain, checked };

class Connection {
 public:
  // A connection with our settings: foreign keys on, no automatic checkpoints, no checkpoint on
  // close, no memory mapping.
  static Result<std::unique_ptr<Connection>> open(const std::filesystem::path& file, OpenMode mode,
                                                  std::chrono::milliseconds busy_timeout,
                                                  Pages pages = Pages::plain);
  // A connection to a private temporary database, which is deleted with it. Messages name `file`.
  static Result<std::unique_ptr<Connection>> open_temporary(const std::filesystem::path& file);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Prepares `sql`, a single statement, once and caches it.
  Result<Statement> prepare(std::string_view sql);
  template <class... Values>
  Result<Statement> query(std::string_view sql, const Values&... values) {
    REPRISE_ASSIGN(Statement statement, prepare(sql));
    (statement.bind(values), ...);
    return statement;
  }
  // Runs one statement that returns no rows.
  template <class... Values>
  Result<> run(std::string_view sql, const Values&... values) {
    REPRISE_ASSIGN(Statement statement, query(sql, values...));
    return statement.run();
  }
  // Whether the database has a write-ahead log.
  Result<bool> has_log();
  // Whether the last call failed because the log's shared memory could not be mapped.
  bool has_failed_to_map() const;
  // Whether its file was moved, removed or replaced since it was opened.
  bool has_moved() const;
  // The first column of the first row; 0 if there is no row.
  template <class... Values>
  Result<std::int64_t> integer(std::string_view sql, const Values&... values) {
    REPRISE_ASSIGN(Statement statement, query(sql, values...));
    REPRISE_ASSIGN(const bool row, statement.step());
    return row ? statement.first_integer() : 0;
  }
  // The first column of all rows.
  template <class... Values>
  Result<std::vector<std::string>> texts(std::string_view sql, const Values&... values) {
    std::vector<std::string> column;
    REPRISE_ASSIGN(Statement statement, query(sql, values...));
    // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): a number, not one of a list
    REPRISE_TRY(statement.each([&] { statement.text(store::Column{0}, column.emplace_back()); }));
    return column;
  }

  // Runs any number of statements, without caching them.
  Result<> script(const std::string& sql);

  // The number of rows that the last statement changed.
  std::int64_t changes() const;
  bool in_transaction() const;
  void set_busy_timeout(std::chrono::milliseconds timeout);
  // Pages in the write-ahead log after this connection's last commit.
  int wal_pages() const { return log_pages_; }
  void set_log_pages(int pages) { log_pages_ = pages; }

  // The number of titles that a statement may search (reprise_contains) before it fails.
  static constexpr std::int64_t kTitlesAny = std::numeric_limits<std::int64_t>::max();
  void set_titles_max(std::int64_t count) { titles_left_ = count; }
  bool titles_exceeded() const { return titles_left_ < 0; }

  // The error of a failed call.
  Error error(int code) const;
  // Whether there was an error that only the content of the file can cause: damaged bytes, or
  // tables other than those that the caller has created. Not those of the disk, of permissions, of
  // memory and of locks.
  bool has_wrong_content() const { return has_wrong_content_; }
  // The caller has found content that it did not write: `corrupt`.
  std::unexpected<Error> wrong_content(std::string_view what);
  sqlite3* handle() const { return handle_; }
  const std::filesystem::path& file() const { return file_; }
  std::string name() const { return file_.filename().string(); }
  // Sets the file that messages name if a copy is open instead of it.
  void set_file(std::filesystem::path file) { file_ = std::move(file); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  Connection(sqlite3* handle, std::filesystem::path file)
      : handle_(handle), file_(std::move(file)) {}
  static Result<std::unique_ptr<Connection>> open_as(const std::string& name, int flags,
                                                     const std::filesystem::path& file);
  Result<> configure(OpenMode mode, Pages pages);

  std::optional<LockedFile> locks_;  // destroyed after the handle is closed
  sqlite3* handle_;
  std::filesystem::path file_;
  std::unordered_map<std::string, Prepared, Hash, std::equal_to<>> statements_;
  int log_pages_ = 0;
  std::int64_t titles_left_ = kTitlesAny;
  mutable bool has_wrong_content_ = false;
};

// Calls `tick` repeatedly while the connection's statements run, during its own lifetime.
class ProgressHandler {
 public:
  ProgressHandler(Connection& connection, std::function<void()> tick);
  ~ProgressHandler();
  ProgressHandler(const ProgressHandler&) = delete;
  ProgressHandler& operator=(const ProgressHandler&) = delete;

 private:
  Connection& connection_;
  const std::function<void()> tick_;
};

// Rolls back unless commit() succeeded.
class Transaction {
 public:
  static Result<Transaction> begin(Connection& connection,
                                   std::string_view statement = "BEGIN IMMEDIATE");
  Transaction(Transaction&& other) noexcept
      : connection_(std::exchange(other.connection_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  Result<> commit();

 private:
  explicit Transaction(Connection& connection) : connection_(&connection) {}
  Connection* connection_;
};

// The error for a SQLite result code, for messages about `file`.
Error error_of(int code, int os_errno, std::string_view detail, const std::filesystem::path& file);

}  // namespace reprise::sqlite
