// The administrator's commands for a store on a server.

#include "base/text.h"
#include "reprise/open_store.h"
#include "store/call.h"
#include "store/postgres/connection.h"
#include "store/postgres/database.h"
#include "store/postgres/pool.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"
#include "store/postgres/schema.h"
#include "store/postgres/server_error.h"
#include "store/postgres/statements.h"
#include "store/postgres/url.h"
#include "store/postgres/values.h"

namespace reprise {
namespace postgres {
namespace {

constexpr std::chrono::hours kMigrationMax{24};

Result<> require_server(std::string_view url) {
  if (!url.starts_with("postgres:") && !url.starts_with("postgresql:")) {
    return fail(Code::unsupported,
                "migrate works only on a PostgreSQL store; name one with --store "
                "postgres://HOST/DATABASE");
  }
  return {};
}

Result<> migrate_at(const ConnectionTarget& target, const StoreOptions& options,
                    const MigrateOptions& migrate) {
  Pool pool(target, options);
  const store::CallOptions call_options(options);
  store::Call call(call_options, "migrate");
  const auto now = std::chrono::steady_clock::now();
  REPRISE_ASSIGN(const Pool::OwnedConnection connection,
                 pool.connect(From::primary, now + options.busy_timeout));
  connection->set_deadline(now + kMigrationMax);
  const auto run = [&]() -> Result<> {
    return migrate_online(*connection, migrate.dry_run ? DryRun::yes : DryRun::no,
                          [&migrate](std::string_view step) {
                            if (migrate.on_step) {
                              migrate.on_step(step);
                            }
                          });
  };
  auto done = run();
  if (!done && remedy_for(connection->failure().sqlstate) == Remedy::unnamed) {  // a pooler
    connection->set_prepare(Prepare::unnamed);
    if (!connection->is_idle()) {
      REPRISE_TRY(connection->run_one({kRollback}));
    }
    done = run();
  }
  call.finish();
  return done;
}

// Forgets the operations of the next page of sessions unless they changed since `before`.
struct ForgottenPage {
  std::string last;  // "" when there are no more
  std::int64_t forgotten = 0;
};
Result<ForgottenPage> forget_page(Connection& connection, const std::string& tenant,
                                  const std::string& after, std::int64_t before) {
  REPRISE_ASSIGN(const Rows rows, connection.run_one({kFindOperationsPage, values(tenant, after)}));
  if (rows.is_null(0, "last")) {
    return ForgottenPage{};
  }
  ForgottenPage page{.last = rows.text(0, "last")};
  REPRISE_ASSIGN(const Rows gone,
                 connection.run_one({kForgetOperations, values(tenant, after, before, page.last)}));
  page.forgotten = gone.integer(0, "forgotten");
  return page;
}

}  // namespace

Result<std::vector<std::string>> PostgresStore::names() {
  std::vector<std::string> names;
  while (true) {
    REPRISE_ASSIGN(
        const Rows next,
        database_.read_one({kFindNextTenant, values(names.empty() ? "" : names.back())}));
    if (next.empty()) {
      return names;
    }
    names.push_back(next.text(0, "tenant"));
  }
}

Result<std::int64_t> PostgresStore::forget_operations(std::chrono::hours age) {
  const std::int64_t before = microseconds_of(database_.clock().now() - age);
  std::int64_t forgotten = 0;
  std::string after;
  while (true) {
    REPRISE_ASSIGN(const auto page, database_.write([&](Connection& connection, bool) {
      return forget_page(connection, database_.tenant(), after, before);
    }));
    forgotten += page.forgotten;
    if (page.last.empty()) {
      return forgotten;
    }
    after = page.last;
  }
}

}  // namespace postgres

Result<> migrate_store(std::string_view url, const StoreOptions& options,
                       const MigrateOptions& migrate) {
  REPRISE_TRY(postgres::require_server(url));
  REPRISE_ASSIGN(const postgres::ConnectionTarget target, postgres::parse_url(url));
  if (auto done = postgres::migrate_at(target, options, migrate); !done) {
    return fail_with_context(target.name, std::move(done).error());
  }
  return {};
}

}  // namespace reprise
