#include "store/postgres/database.h"

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/command_line.h"
#include "base/text.h"
#include "reprise/open_store.h"
#include "store/call.h"
#include "store/postgres/connection.h"
#include "store/postgres/pool.h"
#include "store/postgres/running_answers.h"
#include "store/postgres/schema.h"
#include "store/postgres/server_error.h"
#include "store/postgres/statements.h"
#include "store/postgres/url.h"
#include "store/postgres/values.h"

namespace reprise::postgres {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kMigrationTime{60'000};
// An unresponsive server may be gone, so each attempt gets only a part of the time.
constexpr milliseconds kAttemptMin{1'000};

Deadline attempt_deadline(Deadline deadline) {
  const auto now = Clock::now();
  return std::min(deadline, now + std::max<Clock::duration>((deadline - now) / 2, kAttemptMin));
}

// Exponential backoff with jitter, so that conflicting clients do not collide again.
void pause(int attempt, Deadline deadline) {
  constexpr int kShortest = 2;  // milliseconds
  constexpr int kDoublingsMax = 7;
  std::uint8_t random[2];
  system_entropy().fill(random);
  const int longest = kShortest << std::min(attempt, kDoublingsMax);
  const milliseconds wait{1 + (random[0] * 256 + random[1]) % longest};
  std::this_thread::sleep_for(std::min<Clock::duration>(wait, deadline - Clock::now()));
}

// The server has no connection left.
bool is_full(const Error& error) {
  return error.code == Code::busy && error.os_errno == EAGAIN;
}

Remedy remedy_of(const Failure& failure, const Error& error) {
  if (error.code == Code::unauthorized || error.code == Code::unsupported) {
    return Remedy::none;
  }
  if (is_full(error)) {
    return Remedy::again;
  }
  if (failure.is_lost || failure.may_be_stored) {
    return Remedy::reconnect;
  }
  return remedy_for(failure.sqlstate);
}

// Records the outcome of failed work that has written.
void note_outcome(Failure& failure) {
  failure.may_be_stored = failure.may_be_stored || is_outcome_unknown(failure.sqlstate);
  if (failure.may_be_stored) {
    store::Call::count(&StoreCounts::unknown_outcomes);
  }
}

Result<std::vector<Rows>> run_unsynced(Connection& connection, const std::vector<Query>& queries,
                                       const std::vector<Query>& settings) {
  std::vector<Query> batch = {{kBegin}};
  batch.insert(batch.end(), settings.begin(), settings.end());
  const auto before = std::ssize(batch);
  batch.insert(batch.end(), queries.begin(), queries.end());
  batch.push_back({kCommit});
  REPRISE_ASSIGN(auto rows, connection.run(batch));
  rows.erase(rows.begin(), rows.begin() + before);
  rows.pop_back();
  return rows;
}

// A hint for roles that may use the tables, but neither create nor alter them.
std::string migration_hint(std::string_view owner_url, std::int64_t version) {
  return cat(
      version == 0 ? "there are no tables yet" : "its tables are of an older version",
      ": their owner runs once: ", shell_command({"--store", owner_url, "store", "migrate"}));
}

// A hint for roles that may not use the tables.
void add_grant(Error& error, const Failure& failure) {
  if (!failure.grant.empty()) {
    error.message += cat("; their owner runs: ", failure.grant, " (docs/teams.md)");
  }
}

}  // namespace

Database::Database(std::shared_ptr<Shared> shared, std::string tenant)
    : shared_(std::move(shared)),
      tenant_(std::move(tenant)),
      client_(make_operation_id(system_clock(), system_entropy()).str()) {}

Result<std::unique_ptr<Database>> Database::open(std::string_view url, const StoreOptions& options,
                                                 std::span<const Migration> steps) {
  if (options.connections_max < 1) {
    return fail(Code::invalid_argument, "connections_max must be 1 or more");
  }
  REPRISE_ASSIGN(ConnectionTarget target, parse_url(url));
  std::string tenant = target.tenant;
  std::unique_ptr<Database> database(
      new Database(std::make_shared<Shared>(std::move(target), options), std::move(tenant)));
  if (auto prepared = database->prepare(steps); !prepared) {
    return fail_with_context(database->name(), std::move(prepared).error());
  }
  return database;
}

std::unique_ptr<Database> Database::of(std::string_view tenant) const {
  return std::unique_ptr<Database>(new Database(shared_, std::string(tenant)));
}

// A single server that is unavailable is reported at once. One of several takes over when another
// fails, and a full one has a connection sooner or later: both are waited for.
Result<Pool::OwnedConnection> Database::first_connection() {
  const Deadline deadline = this->deadline();
  auto connection = shared_->pool.connect(From::primary, deadline);
  const auto is_worth_waiting = [&] {
    return !connection && (is_full(connection.error()) || (connection.error().code == Code::io &&
                                                           shared_->pool.target().many_servers()));
  };
  for (int attempt = 0; is_worth_waiting() && Clock::now() < deadline; ++attempt) {
    if (attempt == 0 && options().on_warning) {
      options().on_warning(
          cat("waiting for ",
              is_full(connection.error()) ? "a connection to " : "one of the servers of ", name(),
              ": ", connection.error().message));
    }
    store::Call::count(&StoreCounts::retries);
    pause(attempt, deadline);
    auto next = shared_->pool.connect(From::primary, deadline);
    if (!next && next.error().code == Code::timeout) {
      break;  // the error before it says why
    }
    connection = std::move(next);
  }
  return connection;
}

Result<> Database::prepare(std::span<const Migration> steps) {
  REPRISE_ASSIGN(Pool::OwnedConnection connection, first_connection());
  REPRISE_ASSIGN(const std::int64_t version, prepare_tables(*connection, steps));
  REPRISE_TRY(check_engine());
  if (version != steps.back().number && options().on_note) {
    options().on_note(cat(name(), ": ", migration_hint(shared_->pool.target().owner_url, version)));
  }
  shared_->pool.release(From::primary, std::move(connection));
  return {};
}

// For the first statements, before it is known whether there is a pooler.
template <class Find>
auto Database::run_first(Connection& connection, const Find& work) -> decltype(work(connection)) {
  auto found = work(connection);
  if (!found && remedy_for(connection.failure().sqlstate) == Remedy::unnamed) {
    shared_->pool.set_prepare(Prepare::unnamed);
    connection.set_prepare(Prepare::unnamed);
    found = work(connection);
  }
  return found;
}

// The nodes of distributed tables do not get what kSetTenant sets.
Result<> Database::check_engine() const {
  if (shared_->engine.is_distributed && sets_tenant()) {
    return fail(Code::unsupported,
                "set_tenant=yes does not work with distributed tables, whose nodes do not get the "
                "setting: use a role for each tenant");
  }
  return {};
}

// Returns the version of the tables.
Result<std::int64_t> Database::prepare_tables(Connection& connection,
                                              std::span<const Migration> steps) {
  auto found =
      run_first(connection, [steps](Connection& first) { return find_version(first, steps); });
  if (!found) {
    add_grant(found.error(), connection.failure());
    return found;
  }
  const std::int64_t version = *found;
  if (version > 0) {
    REPRISE_ASSIGN(shared_->engine, run_first(connection, find_engine));
  }
  if (shared_->pool.options().access == Access::read) {
    return version > 0 ? found : fail(Code::not_found, "there is no store in this database");
  }
  if (version == steps.back().number) {
    return found;
  }
  const Deadline migrated = Clock::now() + kMigrationTime;
  connection.set_deadline(migrated);
  auto updated = make_current(connection, version == 0 ? migrated : deadline(), steps);
  if (!updated) {
    if (connection.failure().sqlstate == kNoSchema) {
      add_grant(updated.error(), connection.failure());
    } else if (connection.failure().sqlstate == kNoPrivilege ||
               updated.error().code == Code::busy) {
      updated.error().message +=
          cat("; ", migration_hint(shared_->pool.target().owner_url, version));
    }
    return updated;
  }
  REPRISE_ASSIGN(shared_->engine, run_first(connection, find_engine));
  return updated;
}

Result<> Database::check_writable() const {
  if (shared_->pool.options().access == Access::read) {
    return fail(Code::unsupported, cat(name(), " is open for reading only"));
  }
  return {};
}

// In a transaction for several tenants, each query is preceded by its tenant.
Result<std::vector<Rows>> Database::write_unsynced(const SessionId& session,
                                                   std::vector<Query> queries) {
  if (!sets_tenant()) {
    return write_in_transaction(session, queries);
  }
  queries.insert(queries.begin(), {kSetTenant, values(tenant_)});
  REPRISE_ASSIGN(auto rows, write_in_transaction(session, queries));
  if (!rows.empty()) {
    rows.erase(rows.begin());
  }
  return rows;
}

Result<std::vector<Rows>> Database::write_in_transaction(const SessionId& session,
                                                         const std::vector<Query>& queries) {
  const std::size_t query_count = queries.size();
  const auto run = [&](const std::vector<Query>& batch, GroupCommit::Wait wait) {
    return write([&](Connection& connection, bool) {
      auto rows = run_unsynced(connection, batch, settings_of(wait));
      const bool was_done =
          batch.size() == query_count && connection.failure().sqlstate == kDuplicateKey;
      return !rows && was_done ? std::vector<Rows>() : std::move(rows);
    });
  };
  return shared_->engine.is_distributed  // a shared transaction would wait for all nodes
             ? run(queries, GroupCommit::Wait::full)
             : shared_->unsynced.run(cat(tenant_, "/", session.str()), queries, run);
}

std::vector<Query> Database::settings_of(GroupCommit::Wait wait) const {
  if (shared_->engine.is_distributed) {
    return {{kPropagateSettings}, {kDoNotSyncOnNodes}};
  }
  return wait == GroupCommit::Wait::brief ? std::vector<Query>{{kDoNotSync}, {kLimitLocks}}
                                          : std::vector<Query>{{kDoNotSync}};
}

Database::Attempt Database::run_once(From from, Deadline until,
                                     const std::function<Result<>(Connection&)>& work) {
  auto acquired = shared_->pool.acquire(from, until);
  if (!acquired) {
    return {std::unexpected(std::move(acquired).error()), {.is_lost = true}};
  }
  Pool::OwnedConnection connection = *std::move(acquired);
  connection->set_deadline(until);
  connection->set_tenant(sets_tenant() ? std::string_view(tenant_) : "");
  Attempt attempt{work(*connection), connection->failure()};
  shared_->pool.release(from, std::move(connection));
  return attempt;
}

Result<> Database::attempt(
    From from, Kind kind,
    const std::function<Result<>(Connection& connection, bool is_unsure)>& work) {
  const Deadline queue_end = this->deadline();
  auto permit = shared_->pool.enter(queue_end);
  if (!permit) {
    return fail_with_context(name(), std::move(permit).error());
  }
  // A thread that has queued for long still gets time for an attempt: giving up during one would
  // leave its outcome unknown and cost a connection.
  const Deadline deadline = std::max<Deadline>(
      queue_end, Clock::now() + std::min<Clock::duration>(kAttemptMin, options().busy_timeout / 2));
  // After a failed wait, later calls do not wait again: turns continue unsaved without a delay each
  // time.
  const bool was_unavailable = shared_->is_unavailable;
  bool is_unsure = false;
  std::optional<Error> reason;  // the last error other than the timeout
  for (int attempt = 0;; ++attempt) {
    auto [done, failure] =
        run_once(from, attempt_deadline(deadline),
                 [&](Connection& connection) -> Result<> { return work(connection, is_unsure); });
    if (done) {
      shared_->is_unavailable = false;
      shared_->pool.set_outage(std::nullopt);
      return done;
    }
    if (kind == Kind::writes) {
      note_outcome(failure);
    }
    is_unsure = is_unsure || failure.may_be_stored;
    if (!reason || done.error().code != Code::timeout) {
      reason = done.error();
    }
    if (failure.sqlstate.empty() && !failure.is_lost) {
      return done;  // not an error of the server
    }
    const bool is_unavailable = failure.is_lost || is_node_unavailable(failure.sqlstate);
    shared_->pool.set_outage(is_unavailable ? reason : std::nullopt);
    const bool is_over = Clock::now() >= deadline || (was_unavailable && is_unavailable);
    if (!take_remedy(remedy_of(failure, done.error())) || is_over) {
      shared_->is_unavailable = is_unavailable;
      add_grant(*reason, failure);
      return fail_with_context(name(), *std::move(reason));
    }
    store::Call::count(&StoreCounts::retries);
    pause(attempt, deadline);
  }
}

// Whether to make another attempt.
bool Database::take_remedy(Remedy remedy) {
  if (remedy == Remedy::reconnect) {
    shared_->pool.forget_idle();
  } else if (remedy == Remedy::unnamed) {
    shared_->pool.set_prepare(Prepare::unnamed);
  }
  return remedy != Remedy::none;
}

}  // namespace reprise::postgres
