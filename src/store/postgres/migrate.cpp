#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <set>
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
constexpr std::chrono::seconds kInlineWaitMax{2};

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

// Above these, an index takes more than a moment to build.
constexpr std::string_view kFindManySessions = "SELECT 1 FROM reprise_heads OFFSET 50000 LIMIT 1";
constexpr std::string_view kFindManyMessages =
    "SELECT 1 FROM reprise_messages OFFSET 200000 LIMIT 1";
constexpr std::string_view kFindMayClaim =
    "SELECT 1 WHERE has_table_privilege('reprise_schema', 'INSERT')";

// $1, $2: the end of the previous page. Returns the end of this page, or no row if it is the last
// one.
constexpr std::string_view kFindPageEnd =
    "SELECT tenant, session_id FROM reprise_heads"
    " WHERE (tenant, session_id) > ($1::text, $2::text)"
    " ORDER BY tenant, session_id OFFSET 4999 LIMIT 1";
#define REPRISE_FILL_SLOTS \
  "UPDATE reprise_heads SET updated_slot = " REPRISE_SLOT("updated_us") " WHERE" \
  " (tenant, session_id) > ($1::text, $2::text) AND updated_slot <> " REPRISE_SLOT("updated_us")
constexpr std::string_view kFillPage =
    REPRISE_FILL_SLOTS " AND (tenant, session_id) <= ($3::text, $4::text)";
constexpr std::string_view kFillLastPage = REPRISE_FILL_SLOTS;

// $1: the tenant; $2: the end of the previous page; $3: the end of this page.
constexpr std::string_view kFindCopiedPage =
    "SELECT max(p.session_id) AS last FROM (SELECT h.session_id FROM reprise_heads AS h"
    " WHERE h.tenant = $1::text AND h.session_id > $2::text ORDER BY h.session_id LIMIT 5000) AS p";
#define REPRISE_OF_PAGE "> $2::text AND s.session_id <= $3::text"
constexpr std::string_view kCopyPageToHeads = REPRISE_COPY_TO_HEADS(REPRISE_OF_PAGE);
constexpr std::string_view kMarkPageCopied = REPRISE_MARK_COPIED(REPRISE_OF_PAGE);

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

// Changes one page of rows in a transaction of its own.
Result<> change_page(Connection& connection, const RetryPolicy& retry_policy, const Query& query) {
  return retry_while_locked(connection, retry_policy, [&]() -> Result<> {
    return connection.execute({{kBegin}, {kLimitLocks}, query, {kCommit}});
  });
}

Result<> fill_slots(Connection& connection, const RetryPolicy& retry_policy) {
  std::string tenant;
  std::string session;
  while (true) {
    REPRISE_ASSIGN(const Rows end, connection.run_one({kFindPageEnd, values(tenant, session)}));
    if (end.empty()) {
      return change_page(connection, retry_policy, {kFillLastPage, values(tenant, session)});
    }
    const std::string last_tenant = end.text(0, "tenant");
    const std::string last_session = end.text(0, "session_id");
    REPRISE_TRY(change_page(connection, retry_policy,
                            {kFillPage, values(tenant, session, last_tenant, last_session)}));
    tenant = last_tenant;
    session = last_session;
  }
}

// For one tenant; another one may be on another node.
Result<> copy_to_heads(Connection& connection, const RetryPolicy& retry_policy,
                       const std::string& tenant) {
  std::string after;
  while (true) {
    REPRISE_ASSIGN(const Rows page, connection.run_one({kFindCopiedPage, values(tenant, after)}));
    if (page.is_null(0, "last")) {
      return {};
    }
    const Values range = values(tenant, after, page.text(0, "last"));
    const auto copy = [&]() -> Result<> {
      return connection.execute({{kBegin},
                                 {kLimitLocks},
                                 {kCopyPageToHeads, range},
                                 {kMarkPageCopied, range},
                                 {kCommit}});
    };
    REPRISE_TRY(retry_while_locked(connection, retry_policy, copy));
    after = page.text(0, "last");
  }
}

Result<> copy_to_heads(Connection& connection, const RetryPolicy& retry_policy) {
  std::string tenant;
  while (true) {
    REPRISE_ASSIGN(const Rows next, connection.run_one({kFindNextTenant, values(tenant)}));
    if (next.empty()) {
      return {};
    }
    tenant = next.text(0, "tenant");
    REPRISE_TRY(copy_to_heads(connection, retry_policy, tenant));
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

Result<> change_rows(Connection& connection, const Migration& migration,
                     const RetryPolicy& retry_policy) {
  if (migration.number == kSlotsVersion) {
    retry_policy.report("filling a column, 5,000 sessions at a time");
    return fill_slots(connection, retry_policy);
  }
  if (migration.number == kCopiesAddition) {
    retry_policy.report("copying titles and modes, 5,000 sessions at a time");
    return copy_to_heads(connection, retry_policy);
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

Result<std::set<std::int64_t>> find_applied(Connection& connection) {
  std::set<std::int64_t> applied;
  const auto rows = connection.run_one({kFindVersions});
  if (!rows) {
    return connection.failure().sqlstate == kNoTable
               ? Result<std::set<std::int64_t>>(applied)
               : Result<std::set<std::int64_t>>(std::unexpected(rows.error()));
  }
  for (int row = 0; row < rows->count(); ++row) {
    applied.insert(rows->integer(row, "version"));
  }
  return applied;
}

// What is quick comes first: a program of this version that opens the tables meanwhile has all that
// it needs.
std::vector<const Migration*> missing(const std::set<std::int64_t>& applied) {
  std::vector<const Migration*> found;
  for (const Migration& migration : migrations()) {
    if (!applied.contains(migration.number)) {
      found.push_back(&migration);
    }
  }
  std::ranges::stable_partition(found, &Migration::is_quick);
  return found;
}

// Whether the tables are small, and this role may change them.
Result<bool> can_migrate_inline(Connection& connection) {
  REPRISE_ASSIGN(const auto found,
                 connection.run({{kFindManySessions}, {kFindManyMessages}, {kFindMayClaim}}));
  return found[0].empty() && found[1].empty() && !found[2].empty();
}

// A step of small tables. Not done if others hold locks for long: another program will do it.
bool migrate_inline(Connection& connection, const Migration& migration) {
  const auto until = std::chrono::steady_clock::now() + kInlineWaitMax;
  const RetryPolicy retry_policy{[until] { return until; }, [](std::string_view) {}};
  return change_rows(connection, migration, retry_policy) &&
         retry_migration(connection, migration, retry_policy);
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

Result<> migrate_online(Connection& connection, DryRun dry_run, const Report& on_step) {
  REPRISE_ASSIGN(const auto applied, find_applied(connection));
  if (!applied.empty()) {
    REPRISE_TRY(check_version(*applied.rbegin()));
  }
  if (dry_run == DryRun::no && applied.empty()) {
    REPRISE_TRY(create_version_table(connection));
  }
  const RetryPolicy retry_policy{[] { return std::chrono::steady_clock::now() + kLocksMax; },
                                 on_step};
  for (const Migration* const migration : missing(applied)) {
    const std::int64_t number = migration->number;
    on_step(cat(number > 0 ? "version " : "addition ", number > 0 ? number : -number, ": ",
                migration->description));
    if (dry_run == DryRun::yes) {
      continue;
    }
    if (!migration->is_quick()) {
      REPRISE_TRY(change_rows(connection, *migration, retry_policy));
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

Result<TablesVersion> make_current(Connection& connection, const TablesVersion& now,
                                   Deadline deadline) {
  if (now.version == 0) {
    REPRISE_TRY(create_version_table(connection));
  }
  REPRISE_ASSIGN(const auto applied, find_applied(connection));
  const auto steps = missing(applied);
  const RetryPolicy retry_policy{[deadline] { return deadline; }, [](std::string_view) {}};
  for (const Migration* const migration : steps) {
    if (migration->is_quick() || now.version == 0) {
      const auto done = retry_migration(connection, *migration, retry_policy);
      if (!done && migration->is_needed) {
        return std::unexpected(done.error());
      }
      REPRISE_TRY(end_transaction(connection));
    }
  }
  if (now.version > 0) {
    REPRISE_ASSIGN(const bool is_open, can_migrate_inline(connection));
    for (const Migration* const migration : steps) {
      if (is_open && !migration->is_quick() && !migrate_inline(connection, *migration)) {
        break;
      }
    }
  }
  REPRISE_TRY(end_transaction(connection));
  return find_version(connection);
}

}  // namespace reprise::postgres
