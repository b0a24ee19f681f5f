#pragma once

// One database file: a pool of connections for reading, and the writer.

#include <mutex>

#include "reprise/open_store.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/hot_journal.h"
#include "store/sqlite/writer.h"

namespace reprise::sqlite {

// Thread-safe.
class Database {
 public:
  // Like open_sqlite_store().
  static Result<std::unique_ptr<Database>> open(const std::filesystem::path& named,
                                                const StoreOptions& options);

  // A connection for one thread, returned to the pool by its destructor.
  class Reader {
   public:
    Reader(Database& database, std::unique_ptr<Connection> connection, bool keep,
           std::function<bool()> is_current = {}, bool is_salvaged = false)
        : database_(&database),
          connection_(std::move(connection)),
          keep_(keep),
          is_current_(std::move(is_current)),
          is_salvaged_(is_salvaged) {}
    Reader(Reader&&) = default;
    Reader& operator=(Reader&&) = delete;
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader();
    Connection& operator*() const { return *connection_; }
    Connection* operator->() const { return connection_.get(); }
    // Whether it reads a copy with the readable parts of a damaged database.
    bool is_salvaged() const { return is_salvaged_; }
    // busy if another program has changed the files, so that parts of different states may have
    // been read. Only possible without locks.
    Result<> check_unchanged() const;

   private:
    friend class Database;
    Database* database_;
    std::unique_ptr<Connection> connection_;
    bool keep_;                         // false for one that locks out others
    std::function<bool()> is_current_;  // for a copy: whether it is still current
    bool is_salvaged_;
    std::string unlocked_state_ = {};  // of the files, if they are read without locks
  };
  // The caller checks check_unchanged() when it has read.
  Result<Reader> reader();
  // Returns `make(reader)`; with a salvaged copy if the database is open for reading only and
  // cannot be read, or if the first attempt finds damage; repeated if the files were changed
  // meanwhile.
  template <class Make>
  auto read(Make make) -> decltype(make(std::declval<const Reader&>())) {
    constexpr int kAttemptsMax = 5;
    for (int attempts = 1;; ++attempts) {
      REPRISE_ASSIGN(const Reader first, reader());
      auto made = make(first);
      if (const auto unchanged = first.check_unchanged(); !unchanged) {
        if (attempts == kAttemptsMax) {
          return std::unexpected(unchanged.error());
        }
        continue;
      }
      if (made || made.error().code != Code::corrupt || first.is_salvaged()) {
        return made;
      }
      REPRISE_ASSIGN(const Reader other, salvaged());
      return make(other);
    }
  }

  // Returns what `work(connection)` returned. unsupported if the store was opened for reading.
  template <class Function>
  auto write(Durability durability, const Function& work)
      -> std::invoke_result_t<const Function&, Connection&> {
    std::invoke_result_t<const Function&, Connection&> result = fail(Code::io, "did not run");
    REPRISE_TRY(run(durability, [&](Connection& connection) -> Result<> {
      result = work(connection);
      return result ? Result<>() : std::unexpected(result.error());
    }));
    return result;
  }
  // The same, durable on disk, for deletions: on a full disk it uses the reserved space, and if
  // that is insufficient, `in_steps`.
  Result<> delete_with_reserve(const Work& work, const std::function<Result<>()>& in_steps = {});
  // Checkpoints the log and truncates it; false if a reader still blocks that after `timeout`.
  Result<bool> truncate_wal(std::chrono::milliseconds timeout);

  const std::filesystem::path& file() const { return file_; }
  std::string name() const { return file_.filename().string(); }
  Clock& clock() const { return *options_.clock; }
  const ProgressSink& progress() const { return options_.on_progress; }
  std::chrono::milliseconds busy_timeout() const { return options_.busy_timeout; }

 private:
  Database(std::filesystem::path file, const StoreOptions& options)
      : file_(std::move(file)), options_(options), writer_(file_, options.busy_timeout) {}
  Result<> prepare();
  Result<> run(Durability durability, const Work& work);
  Result<Reader> salvaged();
  Result<Reader> connect();
  Result<Reader> connect_as(OpenMode mode);
  Result<Reader> connect_rolled_back(const JournalMark& journal);
  Result<Reader> present(std::unique_ptr<Connection> connection, bool keep,
                         std::function<bool()> is_current = {});
  Result<Reader> connect_without_shared_memory();
  Result<bool> lacks_shared_memory() const;
  void forget_idle();

  const std::filesystem::path file_;
  const StoreOptions options_;
  Writer writer_;
  std::mutex mutex_;
  struct Idle {
    std::unique_ptr<Connection> connection;
    std::function<bool()> is_current;
    bool is_salvaged;
  };
  std::optional<Idle> pop_idle(bool is_salvaged);
  std::vector<Idle> idle_;  // guarded by mutex_
};

}  // namespace reprise::sqlite
