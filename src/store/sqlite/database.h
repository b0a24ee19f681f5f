#pragma once

// One database file as the parts of the store see it: connections to read with and the writer.

#include <mutex>

#include "reprise/open_store.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/hot_journal.h"
#include "store/sqlite/writer.h"

namespace reprise::sqlite {

// Thread-safe.
class Database {
 public:
  // As open_sqlite_store().
  static Result<std::unique_ptr<Database>> open(const std::filesystem::path& named,
                                                const StoreOptions& options);

  // A connection for one thread, given back by its destructor.
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
    // It shows a copy with what can be read of a damaged database.
    bool is_salvaged() const { return is_salvaged_; }

   private:
    Database* database_;
    std::unique_ptr<Connection> connection_;
    bool keep_;                         // one that shuts out others goes when it is done
    std::function<bool()> is_current_;  // of a copy: whether it is still one
    bool is_salvaged_;
  };
  // Of a database that is open for reading and cannot be read as it is, a salvaged one.
  Result<Reader> reader();
  // What `make` makes with a reader; with a salvaged one where it meets damage.
  template <class Make>
  auto read(Make make) -> decltype(make(std::declval<const Reader&>())) {
    REPRISE_ASSIGN(const Reader usual, reader());
    auto made = make(usual);
    if (made || made.error().code != Code::corrupt || usual.is_salvaged()) {
      return made;
    }
    auto other = salvaged();
    return other ? make(*other) : std::move(made);
  }

  // unsupported when the store was opened for reading.
  Result<> write(Durability durability, const Work& work);
  // The same, durable on disk, for deleting: on a full disk with the room that is kept for it, and
  // where that is too little by `in_steps`.
  Result<> make_room(const Work& work, const std::function<Result<>()>& in_steps = {});
  // Moves what the log holds into the database and cuts the log; false when somebody who reads is
  // still in the way after that time.
  Result<bool> empty_log(std::chrono::milliseconds patience);
  template <class Value, class Make>
  Result<Value> write_for(Durability durability, Make make) {
    Result<Value> made = fail(Code::io, "the work did not run");
    REPRISE_TRY(write(durability, [&](Connection& connection) -> Result<> {
      made = make(connection);
      return made ? Result<>() : std::unexpected(made.error());
    }));
    return made;
  }

  const std::filesystem::path& file() const { return file_; }
  std::string name() const { return file_.filename().string(); }
  Writer& writer() { return writer_; }
  Clock& clock() const { return *options_.clock; }
  const ProgressSink& progress() const { return options_.on_progress; }
  std::chrono::milliseconds busy_timeout() const { return options_.busy_timeout; }

 private:
  Database(std::filesystem::path file, const StoreOptions& options)
      : file_(std::move(file)), options_(options), writer_(file_, options.busy_timeout) {}
  Result<> prepare();
  Result<Reader> salvaged();
  Result<Reader> connect();
  Result<Reader> connect_as(OpenMode mode);
  Result<Reader> connect_rolled_back(const JournalMark& journal);
  Result<Reader> show(std::unique_ptr<Connection> connection, bool keep,
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
  std::optional<Idle> take_idle(bool is_salvaged);
  std::vector<Idle> idle_;  // guarded by mutex_
};

}  // namespace reprise::sqlite
