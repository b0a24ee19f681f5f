#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "store/postgres/connection.h"
#include "store/postgres/schema.h"
#include "store/postgres/server_error.h"
#include "store/postgres/statements.h"
#include "store/postgres/values.h"

namespace reprise::postgres {
namespace {

using Report = std::function<void(std::string_view)>;

constexpr std::chrono::minutes kLocksMax{10};  // for each step of an administrator's migration

constexpr std::string_view kFindSchema =
    "SELECT quote_ident(n.nspname) AS name FROM pg_class AS c JOIN pg_namespace AS n"
    " ON n.oid = c.relnamespace WHERE c.oid = to_regclass('reprise_heads')";
// 1 the qualified signature of a function, 2 a table.
constexpr std::string_view kDistributeFunction =
    "SELECT create_distributed_function($1::text::regprocedure, '$1', colocate_with => $2::text)";
constexpr std::string_view kFindBrokenIndex =
    "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass($1::text) AND NOT indisvalid";
constexpr std::string_view kFindIndex = "SELECT 1 WHERE to_regclass($1::text) IS NOT NULL";
constexpr std::string_view kCreateIndex = "CREATE INDEX IF NOT EXISTS ";
constexpr std::string_view kConcurrently = "CREATE INDEX CONCURRENTLY IF NOT EXISTS ";
constexpr std::string_view kNotSupported = "0A000";  // for the parent of partitions

// Building an index concurrently waits for others, who do not wait for it. It cannot run in a
// transaction, for which alone a setting could be made.
constexpr std::string_view kWaitForLocks = "SET lock_timeout = 0";
constexpr std::string_view kWaitAsBefore = "RESET lock_timeout";

// The oldest transaction that uses tables of the store. Its start is hidden from ordinary roles.
constexpr std::string_view kFindBlocker =
    "SELECT a.pid::text AS pid, a.application_name::text AS program, a.usename::text AS role,"
    " c.relname::text AS name, coalesce(extract(epoch FROM clock_timestamp() - a.xact_start), 0)"
    "::int8 AS seconds FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation"
    " JOIN pg_stat_activity AS a ON a.pid = l.pid WHERE l.granted AND l.locktype = 'relation'"
    " AND a.datname = current_database() AND a.pid <> pg_backend_pid() AND c.relkind IN ('r', 'p')"
    " AND c.relname LIKE 'reprise\\_%' ORDER BY a.xact_start, c.relname LIMIT 1";

// How long a step is retried while others hold locks, and where it reports what it waits for.
struct RetryPolicy {
  std::function<Deadline()> until;
  Report report;
};

std::string find_blocker(Connection& connection) {
  const auto found = connection.run_one({kFindBlocker});
  if (!found || found->empty()) {
    return "another transaction";
  }
  const std::string program = found->text(0, "program");
  const std::int64_t seconds = found->integer(0, "seconds");
  return cat("a transaction of process ", found->text(0, "pid"), " (",
             program.empty() ? "" : cat(program, ", "), "role ", found->text(0, "role"), ") on ",
             found->text(0, "name"), seconds > 0 ? cat(", open for ", seconds, " s") : "");
}

bool is_lock_conflict(std::string_view sqlstate) {
  return sqlstate == kLockTimeout || remedy_for(sqlstate) == Remedy::again;
}

Result<> end_transaction(Connection& connection) {
  if (connection.is_idle()) {
    return {};
  }
  return connection.execute({{kRollback}});
}

Result<> retry_while_locked(Connection& connection, const RetryPolicy& retry_policy,
                            const std::function<Result<>()>& work) {
  constexpr std::chrono::milliseconds kPauseMax{5'000};
  constexpr std::chrono::milliseconds kReportedPause{400};
  const Deadline until = retry_policy.until();
  std::chrono::milliseconds pause{50};
  std::string reported;
  while (true) {
    auto done = work();
    if (done || !is_lock_conflict(connection.failure().sqlstate)) {
      return done;
    }
    REPRISE_TRY(end_transaction(connection));
    const std::string blocker = find_blocker(connection);
    if (std::chrono::steady_clock::now() + pause >= until) {
      return std::unexpected(
          Error{Code::busy, cat(done.error().message, "; ", blocker, " is blocking it"), EAGAIN});
    }
    if (const std::string known = blocker.substr(0, blocker.find(','));
        pause >= kReportedPause && known != reported) {
      reported = known;
      retry_policy.report(cat("waiting for ", blocker));
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kPauseMax);
  }
}

// Runs a statement outside a transaction that waits for locks as long as necessary. All is sent at
// once: a pooler then keeps the server's connection, and the setting ends even if this process
// does.
Result<> run_concurrently(Connection& connection, std::string_view text) {
  for (const std::string_view statement : {kWaitForLocks, text, kWaitAsBefore}) {
    REPRISE_TRY(connection.begin({statement}));
  }
  Result<> done;
  for (int taken = 0; taken < 3 && !connection.failure().is_lost; ++taken) {
    if (const auto rows = connection.fetch_rows(); !rows && done) {
      done = std::unexpected(rows.error());
    }
  }
  return done;
}

// Replaces an invalid index, which an interrupted build leaves behind.
Result<> build_index(Connection& connection, std::string_view statement, const Report& report) {
  const std::string_view definition = statement.substr(kCreateIndex.size());
  const std::string name(definition.substr(0, definition.find(' ')));
  REPRISE_ASSIGN(const Rows broken, connection.run_one({kFindBrokenIndex, values(name)}));
  if (!broken.empty()) {
    REPRISE_TRY(run_concurrently(connection, cat("DROP INDEX CONCURRENTLY ", name)));
  }
  REPRISE_ASSIGN(const Rows found, connection.run_one({kFindIndex, values(name)}));
  if (!found.empty()) {
    return {};
  }
  report(cat("building the index ", name));
  const auto built = run_concurrently(connection, cat(kConcurrently, definition));
  if (!built && connection.failure().sqlstate != kNotSupported) {
    return std::unexpected(built.error());
  }
  return {};
}

Result<> build_indexes(Connection& connection, const Migration& migration,
                       const RetryPolicy& retry_policy) {
  for (const std::string_view statement : migration.statements) {
    if (statement.starts_with(kCreateIndex)) {
      REPRISE_TRY(retry_while_locked(connection, retry_policy, [&] {
        return build_index(connection, statement, retry_policy.report);
      }));
    }
  }
  return {};
}

Result<> retry_migration(Connection& connection, const Migration& migration,
                         const RetryPolicy& retry_policy) {
  return retry_while_locked(connection, retry_policy,
                            [&] { return migrate(connection, migration); });
}

// What is quick comes first: a program of this version that opens the tables meanwhile has all that
// it needs.
std::vector<const Migration*> missing(const std::set<std::int64_t>& applied,
                                      std::span<const Migration> steps) {
  std::vector<const Migration*> found;
  for (const Migration& migration : steps) {
    if (!applied.contains(migration.number)) {
      found.push_back(&migration);
    }
  }
  std::ranges::stable_partition(found, &Migration::is_quick);
  return found;
}

// Creates the functions for appends, which Citus runs on its nodes. An existing one is replaced.
Result<> create_append_functions(Connection& connection) {
  REPRISE_ASSIGN(const Rows found, connection.run_one({kFindSchema}));
  const std::string schema = found.text(0, "name");
  std::vector<std::string> functions;
  std::vector<Query> distribution;
  for (const AppendShape& shape : append_function_shapes()) {
    functions.push_back(create_append_function(shape, schema));
    distribution.push_back({kDistributeFunction, values(cat(schema, ".", append_signature(shape)),
                                                        cat(schema, ".reprise_heads"))});
  }
  std::vector<Query> queries = {{kBegin}};
  for (const std::string& function : functions) {
    queries.push_back({function});
  }
  queries.insert(queries.end(), std::make_move_iterator(distribution.begin()),
                 std::make_move_iterator(distribution.end()));
  queries.push_back({kCommit});
  return connection.execute(queries);
}

}  // namespace

Result<> migrate_online(Connection& connection, DryRun dry_run, const Report& on_step,
                        std::span<const Migration> steps) {
  REPRISE_ASSIGN(const auto applied, find_applied(connection, steps));
  if (dry_run == DryRun::no && applied.empty()) {
    REPRISE_TRY(create_version_table(connection));
  }
  const RetryPolicy retry_policy{[] { return std::chrono::steady_clock::now() + kLocksMax; },
                                 on_step};
  for (const Migration* const migration : missing(applied, steps)) {
    on_step(cat("version ", migration->number, ": ", migration->description));
    if (dry_run == DryRun::yes) {
      continue;
    }
    if (!migration->is_quick()) {
      REPRISE_TRY(build_indexes(connection, *migration, retry_policy));
    }
    REPRISE_TRY(retry_migration(connection, *migration, retry_policy));
  }
  if (dry_run == DryRun::yes && applied.empty()) {
    return {};
  }
  REPRISE_ASSIGN(const Engine engine, find_engine(connection));
  if (!engine.is_distributed || engine.has_append_function) {
    return {};
  }
  on_step("a function for appends to distributed tables");
  return dry_run == DryRun::yes ? Result<>() : create_append_functions(connection);
}

Result<std::int64_t> make_current(Connection& connection, Deadline deadline,
                                  std::span<const Migration> steps) {
  REPRISE_ASSIGN(const auto applied, find_applied(connection, steps));
  if (applied.empty()) {
    REPRISE_TRY(create_version_table(connection));
  }
  const RetryPolicy retry_policy{[deadline] { return deadline; }, [](std::string_view) {}};
  for (const Migration* const migration : missing(applied, steps)) {
    if (migration->is_quick() || applied.empty()) {  // new tables have no rows
      REPRISE_TRY(retry_migration(connection, *migration, retry_policy));
    }
  }
  return find_version(connection, steps);
}

}  // namespace reprise::postgres
