#include "store/postgres/migrate.h"

#include <optional>
#include <set>
#include <string>
#include <thread>

#include "base/text.h"
#include "store/postgres/schema.h"
#include "store/postgres/server_error.h"
#include "store/postgres/statements.h"
#include "store/postgres/values.h"

namespace reprise::postgres {
namespace {

using Report = std::function<void(std::string_view)>;

// Settings of this connection only.
constexpr std::string_view kFindMade = "SELECT version FROM reprise_schema";
constexpr std::string_view kFindBrokenIndex =
    "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass($1::text) AND NOT indisvalid";
constexpr std::string_view kFindIndex = "SELECT 1 WHERE to_regclass($1::text) IS NOT NULL";
constexpr std::string_view kCreateIndex = "CREATE INDEX IF NOT EXISTS ";
constexpr std::string_view kConcurrently = "CREATE INDEX CONCURRENTLY IF NOT EXISTS ";
constexpr std::string_view kNotSupported = "0A000";  // for the parent of partitions

// Building an index concurrently waits for writers and blocks nobody; changing a table blocks
// everybody who comes later, so it waits only briefly.
constexpr std::string_view kWaitForLocks = "SELECT set_config('lock_timeout', '0', false)";
constexpr std::string_view kWaitLittle = "SELECT set_config('lock_timeout', '500', false)";

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
constexpr std::string_view kFillRest = REPRISE_FILL_SLOTS;

constexpr std::string_view kFindNextTenant =
    "SELECT tenant FROM reprise_heads WHERE tenant > $1::text ORDER BY tenant LIMIT 1";
// Of 1: 2 where the page before ended, 3 where this one ends.
constexpr std::string_view kFindCopiedPage =
    "SELECT max(p.session_id) AS last FROM (SELECT h.session_id FROM reprise_heads AS h"
    " WHERE h.tenant = $1::text AND h.session_id > $2::text ORDER BY h.session_id LIMIT 5000) AS p";
#define REPRISE_OF_PAGE "> $2::text AND s.session_id <= $3::text"
constexpr std::string_view kCopyPageToHeads = REPRISE_COPY_TO_HEADS(REPRISE_OF_PAGE);
constexpr std::string_view kMarkPageCopied = REPRISE_MARK_COPIED(REPRISE_OF_PAGE);

// What meets a writer is done again.
Result<> do_again(Connection& connection, const std::function<Result<>()>& work) {
  constexpr int kAttemptsMax = 60;
  REPRISE_TRY(connection.run_one({kWaitLittle}));
  for (int attempt = 1;; ++attempt) {
    auto done = work();
    const std::string sqlstate = connection.failure().sqlstate;
    const bool is_in_the_way = sqlstate == "55P03" || remedy_for(sqlstate) == Remedy::again;
    if (done || !is_in_the_way || attempt == kAttemptsMax) {
      return done;
    }
    if (!connection.is_idle()) {
      REPRISE_TRY(connection.run_one({kRollback}));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

Result<> run_again(Connection& connection, const Query& query) {
  return do_again(connection, [&]() -> Result<> {
    REPRISE_TRY(connection.run_one(query));
    return {};
  });
}

Result<> fill_slots(Connection& connection) {
  std::string tenant;
  std::string session;
  while (true) {
    REPRISE_ASSIGN(const Rows end, connection.run_one({kFindPageEnd, values(tenant, session)}));
    if (end.empty()) {
      REPRISE_TRY(run_again(connection, {kFillRest, values(tenant, session)}));
      return {};
    }
    const std::string last_tenant = end.text(0, "tenant");
    const std::string last_session = end.text(0, "session_id");
    REPRISE_TRY(
        run_again(connection, {kFillPage, values(tenant, session, last_tenant, last_session)}));
    tenant = last_tenant;
    session = last_session;
  }
}

// Of one tenant, which may be on another node than the next.
Result<> copy_to_heads(Connection& connection, const std::string& tenant) {
  std::string after;
  while (true) {
    REPRISE_ASSIGN(const Rows page, connection.run_one({kFindCopiedPage, values(tenant, after)}));
    if (page.is_null(0, "last")) {
      return {};
    }
    const Values range = values(tenant, after, page.text(0, "last"));
    const auto copy = [&]() -> Result<> {
      REPRISE_TRY(connection.run(
          {{kBegin}, {kCopyPageToHeads, range}, {kMarkPageCopied, range}, {kCommit}}));
      return {};
    };
    REPRISE_TRY(do_again(connection, copy));
    after = page.text(0, "last");
  }
}

Result<> copy_to_heads(Connection& connection) {
  std::string tenant;
  while (true) {
    REPRISE_ASSIGN(const Rows next, connection.run_one({kFindNextTenant, values(tenant)}));
    if (next.empty()) {
      return {};
    }
    tenant = next.text(0, "tenant");
    REPRISE_TRY(copy_to_heads(connection, tenant));
  }
}

// One that was broken off stays behind, and is of no use.
Result<> build_index(Connection& connection, std::string_view statement, const Report& report) {
  const std::string_view rest = statement.substr(kCreateIndex.size());
  const std::string name(rest.substr(0, rest.find(' ')));
  REPRISE_ASSIGN(const Rows broken, connection.run_one({kFindBrokenIndex, values(name)}));
  if (!broken.empty()) {
    REPRISE_TRY(connection.run_one({cat("DROP INDEX CONCURRENTLY ", name)}));
  }
  REPRISE_ASSIGN(const Rows found, connection.run_one({kFindIndex, values(name)}));
  if (!found.empty()) {
    return {};
  }
  report(cat("building the index ", name));
  REPRISE_TRY(connection.run_one({kWaitForLocks}));
  const std::string text = cat(kConcurrently, rest);
  const auto built = connection.run_one({text});
  if (!built && connection.failure().sqlstate != kNotSupported) {
    return std::unexpected(built.error());
  }
  return {};
}

Result<> prepare(Connection& connection, const Migration& migration, const Report& report) {
  if (migration.makes_table()) {
    return {};  // still empty
  }
  if (migration.number == kSlotsVersion) {
    report("filling a column, 5,000 sessions at a time");
    REPRISE_TRY(fill_slots(connection));
  }
  if (migration.number == kCopiesAddition) {
    report("copying titles and modes, 5,000 sessions at a time");
    REPRISE_TRY(copy_to_heads(connection));
  }
  for (const std::string_view statement : migration.statements) {
    if (statement.starts_with(kCreateIndex)) {
      REPRISE_TRY(build_index(connection, statement, report));
    }
  }
  return {};
}

Result<std::set<std::int64_t>> find_made(Connection& connection) {
  std::set<std::int64_t> made;
  const auto rows = connection.run_one({kFindMade});
  if (!rows) {
    return connection.failure().sqlstate == kNoTable
               ? Result<std::set<std::int64_t>>(made)
               : Result<std::set<std::int64_t>>(std::unexpected(rows.error()));
  }
  for (int row = 0; row < rows->count(); ++row) {
    made.insert(rows->integer(row, "version"));
  }
  return made;
}

}  // namespace

Result<> migrate_beside(Connection& connection, Trial trial, const Report& on_step) {
  REPRISE_ASSIGN(const auto made, find_made(connection));
  if (!made.empty()) {
    REPRISE_TRY(check_version(*made.rbegin()));
  }
  if (trial == Trial::no && made.empty()) {
    REPRISE_TRY(make_version_table(connection));
  }
  for (const Migration& migration : migrations()) {
    if (made.contains(migration.number)) {
      continue;
    }
    on_step(cat(migration.number > 0 ? "version " : "addition ",
                migration.number > 0 ? migration.number : -migration.number, ": ", migration.what));
    if (trial == Trial::no) {
      REPRISE_TRY(prepare(connection, migration, on_step));
      REPRISE_TRY(do_again(connection, [&] { return migrate(connection, migration); }));
    }
  }
  return {};
}

}  // namespace reprise::postgres
