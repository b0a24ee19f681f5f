#pragma once

// One database: connections, and retries of work when servers disappear, switch roles or detect
// conflicting writers.
//
//  (1) Work is repeated as a whole, if necessary on another connection, until it succeeds, fails
//      permanently, or reaches its deadline.
//  (2) If an earlier attempt may have been committed (the commit was not answered), the work is
//      told so: it looks up its result by its name before repeating it.

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>

#include "reprise/open_store.h"
#include "store/postgres/pool.h"
#include "store/postgres/running_answers.h"
#include "store/postgres/schema.h"
#include "store/postgres/server_error.h"

namespace reprise::postgres {

// Thread-safe.
class Database {
 public:
  static Result<std::unique_ptr<Database>> open(std::string_view url, const StoreOptions& options,
                                                std::span<const Migration> steps = migrations());
  // A view of the same database for another tenant, which shares all connections and opens none.
  std::unique_ptr<Database> of(std::string_view tenant) const;

  // Each returns what the last attempt of `work` has returned, a Result.
  // unsupported if the store was opened for reading. `work(connection, is_unsure)`; is_unsure: an
  // earlier attempt may have been committed.
  template <class Work>
  auto write(const Work& work) -> std::invoke_result_t<const Work&, Connection&, bool> {
    REPRISE_TRY(check_writable());
    return run(From::primary, Kind::writes, work);
  }
  // `work(connection)`.
  template <class Work>
  auto read(const Work& work, From from = From::primary) {
    return run(from, Kind::reads,
               [&work](Connection& connection, bool) { return work(connection); });
  }
  Result<Rows> read_one(const Query& query, From from = From::primary) {
    return read([&query](Connection& connection) { return connection.run_one(query); }, from);
  }
  // Writes data derived from messages, even if the store was opened for reading. Must be
  // repeatable. `work(connection)`.
  template <class Work>
  auto write_derived(const Work& work) {
    return run(From::primary, Kind::writes,
               [&work](Connection& connection, bool) { return work(connection); });
  }

  // Runs a session's statements in a transaction whose commit waits neither for the disk nor for a
  // standby; it may include the statements of others. No rows if a key already exists (23505).
  Result<std::vector<Rows>> write_unsynced(const SessionId& session, std::vector<Query> queries);
  RunningAnswers& running_answers() { return shared_->answers; }

  // The deadline for an operation that begins now.
  Deadline deadline() const {
    return std::chrono::steady_clock::now() + shared_->pool.options().busy_timeout;
  }
  const std::string& tenant() const { return tenant_; }
  const std::string& name() const { return shared_->pool.target().name; }
  bool is_distributed() const { return shared_->engine.is_distributed; }
  const Engine& engine() const { return shared_->engine; }
  bool has_word_index() const { return shared_->engine.has_word_index; }
  bool sets_tenant() const { return shared_->pool.target().sets_tenant; }
  // A unique name of this object.
  const std::string& client() const { return client_; }
  std::chrono::milliseconds partial_interval() const {
    return shared_->pool.options().partial_interval;
  }
  const ProgressSink& progress() const { return shared_->pool.options().on_progress; }
  const StoreOptions& options() const { return shared_->pool.options(); }
  reprise::Clock& clock() const { return *shared_->pool.options().clock; }

 private:
  // Shared by all tenants.
  struct Shared {
    Shared(ConnectionTarget target, const StoreOptions& options)
        : pool(std::move(target), options) {}

    Pool pool;
    GroupCommit unsynced;
    RunningAnswers answers;
    Engine engine;                             // set before this is shared
    std::atomic<bool> is_unavailable = false;  // the last wait for a server failed
  };

  Database(std::shared_ptr<Shared> shared, std::string tenant);
  Result<Pool::OwnedConnection> first_connection();
  Result<> prepare(std::span<const Migration> steps);
  enum class Kind : std::uint8_t { reads, writes };
  template <class Work>
  auto run(From from, Kind kind, const Work& work)
      -> std::invoke_result_t<const Work&, Connection&, bool> {
    std::invoke_result_t<const Work&, Connection&, bool> result = fail(Code::io, "did not run");
    REPRISE_TRY(attempt(from, kind, [&](Connection& connection, bool is_unsure) -> Result<> {
      result = work(connection, is_unsure);
      return result ? Result<>() : std::unexpected(result.error());
    }));
    return result;
  }
  struct Attempt {
    Result<> done;
    Failure failure;
  };
  Attempt run_once(From from, Deadline until, const std::function<Result<>(Connection&)>& work);
  Result<> attempt(From from, Kind kind,
                   const std::function<Result<>(Connection& connection, bool is_unsure)>& work);
  Result<> check_writable() const;
  Result<std::vector<Rows>> write_in_transaction(const SessionId& session,
                                                 const std::vector<Query>& queries);
  std::vector<Query> settings_of(GroupCommit::Wait wait) const;
  Result<> check_engine() const;
  bool take_remedy(Remedy remedy);
  Result<std::int64_t> prepare_tables(Connection& connection, std::span<const Migration> steps);
  template <class Find>
  auto run_first(Connection& connection, const Find& work) -> decltype(work(connection));

  const std::shared_ptr<Shared> shared_;
  const std::string tenant_;
  const std::string client_;
};

}  // namespace reprise::postgres
