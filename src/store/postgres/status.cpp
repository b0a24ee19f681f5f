// The state of a store on a server, for its administrator.

#include "reprise/server_status.h"
#include "store/call.h"
#include "store/postgres/connection.h"
#include "store/postgres/pool.h"
#include "store/postgres/rows.h"
#include "store/postgres/schema.h"
#include "store/postgres/url.h"
#include "store/postgres/values.h"
#include "store/postgres/words.h"

namespace reprise {
namespace postgres {
namespace {

// Comparing all sessions of a large tenant takes some seconds.
constexpr std::chrono::minutes kStatusMax{2};

constexpr std::string_view kFindBlockers =
    "SELECT * FROM (SELECT DISTINCT ON (a.pid) a.pid::int8 AS pid,"
    " coalesce(a.application_name, '')::text AS program, coalesce(a.usename, '')::text AS role,"
    " c.relname::text AS name, a.xact_start,"
    " coalesce(extract(epoch FROM clock_timestamp() - a.xact_start), 0)::int8 AS seconds,"
    " (SELECT count(*) FROM pg_stat_activity AS w WHERE w.datname = current_database()"
    " AND a.pid = ANY (pg_blocking_pids(w.pid)))::int8 AS waiting"
    " FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation"
    " JOIN pg_stat_activity AS a ON a.pid = l.pid WHERE l.granted AND l.locktype = 'relation'"
    " AND a.datname = current_database() AND a.pid <> pg_backend_pid() AND c.relkind IN ('r', 'p')"
    " AND c.relname LIKE 'reprise\\_%' ORDER BY a.pid, c.relname) AS b"
    " WHERE b.seconds >= 10 OR b.waiting > 0 ORDER BY b.xact_start, b.pid";

// Calls `work` with a connection of its own.
template <class Work>
auto read_from(std::string_view url, const StoreOptions& options, const Work& work)
    -> decltype(work(std::declval<Connection&>(), std::declval<const ConnectionTarget&>())) {
  if (!url.starts_with("postgres:") && !url.starts_with("postgresql:")) {
    return fail(Code::unsupported,
                "only a PostgreSQL store has a server; name one with --store "
                "postgres://HOST/DATABASE");
  }
  REPRISE_ASSIGN(const ConnectionTarget target, parse_url(url));
  Pool pool(target, options);
  const store::CallOptions call_options(options);
  store::Call call(call_options, "status");
  const auto now = std::chrono::steady_clock::now();
  auto connection = pool.connect(From::primary, now + options.busy_timeout);
  if (!connection) {
    return fail_with_context(target.name, std::move(connection).error());
  }
  (*connection)->set_deadline(now + kStatusMax);
  auto result = work(**connection, target);
  call.finish();
  if (!result) {
    return fail_with_context(target.name, std::move(result).error());
  }
  return result;
}

Result<std::vector<StoreBlocker>> read_blockers(Connection& connection,
                                                const ConnectionTarget& /*target*/) {
  REPRISE_ASSIGN(const Rows found, connection.run_one({kFindBlockers}));
  std::vector<StoreBlocker> blockers;
  for (int row = 0; row < found.count(); ++row) {
    blockers.push_back({.pid = found.integer(row, "pid"),
                        .program = found.text(row, "program"),
                        .role = found.text(row, "role"),
                        .table = found.text(row, "name"),
                        .seconds = found.integer(row, "seconds"),
                        .waiting = found.integer(row, "waiting")});
  }
  return blockers;
}

}  // namespace
}  // namespace postgres

Result<std::vector<StoreBlocker>> find_blockers(std::string_view url, const StoreOptions& options) {
  return postgres::read_from(url, options, postgres::read_blockers);
}

Result<std::vector<UnindexedMessages>> count_unindexed(std::string_view url,
                                                       const std::vector<std::string>& tenants,
                                                       const StoreOptions& options) {
  using postgres::Connection;
  const auto count =
      [&](Connection& connection,
          const postgres::ConnectionTarget& target) -> Result<std::vector<UnindexedMessages>> {
    REPRISE_ASSIGN(const postgres::Engine engine, postgres::find_engine(connection));
    std::vector<UnindexedMessages> counts;
    for (const std::string& tenant : tenants.empty() ? std::vector{target.tenant} : tenants) {
      UnindexedMessages& added = counts.emplace_back(tenant);
      if (engine.has_word_index) {
        connection.set_tenant(target.sets_tenant ? std::string_view(tenant) : "");
        REPRISE_ASSIGN(const postgres::Rows due,
                       connection.run_one({postgres::kCountDue, postgres::values(tenant)}));
        added.messages = due.integer(0, "messages");
      }
    }
    return counts;
  };
  return postgres::read_from(url, options, count);
}

}  // namespace reprise
