// The steps from one version of the tables to the next, with made-up ones; roles that may not take
// them; the functions for appends.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "postgres/server_support.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "reprise/store_statistics.h"
#include "store/postgres/database.h"
#include "store/postgres/schema.h"
#include "support/build.h"
#include "support/must.h"
#include "support/postgres_server.h"

namespace reprise::test {
namespace {

constexpr std::chrono::milliseconds kPause{10};  // leaves the server time for others

// Steps that do not exist yet: a quick one that fails if it is taken twice, and one that takes long
// in large tables.
constexpr std::string_view kColumn[] = {"ALTER TABLE reprise_heads ADD COLUMN colour int8"};
constexpr std::string_view kIndex[] = {
    "CREATE INDEX IF NOT EXISTS reprise_by_colour ON reprise_heads(tenant, colour)"};

std::span<const postgres::Migration> made_up_steps() {
  static const std::vector<postgres::Migration> all = {
      postgres::migrations().front(),
      {postgres::kVersion + 1, "a column of colours", kColumn},
      {postgres::kVersion + 2, "an index of colours", kIndex}};
  return all;
}

// Like open_store(), with these steps.
auto open_with_steps(std::string_view url, const StoreOptions& options = {}) {
  return postgres::Database::open(url, options, made_up_steps());
}

// Like migrate_store(), with these steps.
using Report = std::function<void(std::string_view)>;
Result<> migrate_with_steps(
    std::string_view url, const Report& on_step = [](std::string_view) {},
    postgres::DryRun dry_run = postgres::DryRun::no) {
  return postgres::migrate_online(*connect(url), dry_run, on_step, made_up_steps());
}

// A database with tables of this version and a session "a".
std::string made_database() {
  const std::string url = new_database();
  must(must(open_store(url))->create(session("a")));
  return url;
}

std::string versions_of(const std::string& url) {
  return query(url, "SELECT string_agg(version::text, ' ' ORDER BY version) FROM reprise_schema");
}

// Like pg_dump.
constexpr std::string_view kReadsHeads = "SELECT count(*) FROM reprise_heads";

TEST(PostgresMigration, QuickStepsAreTakenOnceByTenClientsThatOpenTheTables) {
  const std::string url = made_database();
  EXPECT_TRUE(works(open_with_steps(url, {.access = Access::read})));
  EXPECT_EQ(versions_of(url), "6");
  std::mutex mutex;
  std::vector<std::string> notes;
  StoreOptions options;
  options.on_note = [&](std::string_view note) {
    const std::lock_guard guard(mutex);
    notes.emplace_back(note);
  };
  {
    std::vector<std::jthread> clients;
    for (int client = 0; client < 10; ++client) {
      clients.emplace_back([&] { EXPECT_TRUE(works(open_with_steps(url, options))); });
    }
  }
  EXPECT_EQ(versions_of(url), "6 7");
  ASSERT_EQ(notes.size(), 10U);
  EXPECT_NE(notes[0].find("its tables are of an older version: their owner runs once: reprise "
                          "--store"),
            std::string::npos)
      << notes[0];
  for (const auto& refused : {open_store(url), open_store(url, {.access = Access::read})}) {
    ASSERT_TRUE(fails(refused, Code::unsupported));
    EXPECT_NE(refused.error().message.find("newer version (format 7; this one knows 6)"),
              std::string::npos)
        << refused.error().message;
  }
  EXPECT_TRUE(fails(migrate_store(url), Code::unsupported));
  must(migrate_with_steps(url));
  EXPECT_EQ(versions_of(url), "6 7 8");
  notes.clear();
  EXPECT_TRUE(works(open_with_steps(url, options)));
  EXPECT_EQ(notes, std::vector<std::string>{});
}

TEST(PostgresMigration, NewTablesNeedNoAdministrator) {
  const std::string url = new_database();
  EXPECT_TRUE(works(open_with_steps(url)));
  EXPECT_EQ(versions_of(url), "6 7 8");
}

TEST(PostgresMigration, NamesTheTransactionThatKeepsItFromAQuickStep) {
  const std::string url = made_database();
  const Holder holder(cat(url, "&application_name=backup"), kReadsHeads);
  StoreOptions options;
  options.busy_timeout = std::chrono::seconds(2);
  const auto refused = open_with_steps(url, options);
  ASSERT_TRUE(fails(refused, Code::busy));
  for (const char* const part : {"(backup, role reprise)", "reprise_heads", "store migrate"}) {
    EXPECT_NE(refused.error().message.find(part), std::string::npos) << refused.error().message;
  }
}

// As a role that may use the tables, but does not own them.
std::string as_clerk(std::string url) {
  run(url,
      "DO $$ BEGIN CREATE ROLE clerk LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$");
  const auto user = url.find("://") + 3;
  return url.replace(user, url.find('@') - user, "clerk");
}

TEST(PostgresRole, ThatMayNotMigrateOldTablesGetsAHint) {
  const std::string url = made_database();
  const std::string other = as_clerk(url);
  run(url, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO clerk");
  const auto refused = open_with_steps(cat(other, "&password=secret&sslmode=prefer"));
  ASSERT_FALSE(refused);
  const std::size_t at = url.find('@') + 1;
  const std::string hint =
      cat("its tables are of an older version: their owner runs once: reprise --store "
          "'postgres://OWNER@",
          url.substr(at, url.find('?') - at), "?sslmode=prefer' store migrate");
  EXPECT_NE(refused.error().message.find(hint), std::string::npos) << refused.error().message;
  EXPECT_EQ(versions_of(url), "6");
  must(open_with_steps(url));
  EXPECT_TRUE(works(open_with_steps(other)));
}

TEST(PostgresRole, WithoutRightsGetsTheStatementsThatGrantThem) {
  const std::string url = new_database();
  must(open_store(url));
  const std::string other = as_clerk(url);
  const auto says = [](const auto& refused, std::string_view statement) {
    return !refused && refused.error().message.find(statement) != std::string::npos
               ? testing::AssertionSuccess()
               : testing::AssertionFailure() << (refused ? "works" : refused.error().message);
  };
  EXPECT_TRUE(says(open_store(other), "GRANT SELECT ON reprise_schema TO \"clerk\""));
  run(url, "GRANT SELECT ON reprise_schema TO clerk");
  const auto store = must(open_store(other));
  EXPECT_TRUE(says(store->create(session("s")),
                   "GRANT SELECT, INSERT, UPDATE, DELETE ON reprise_heads TO \"clerk\""));
  run(url, "REVOKE USAGE ON SCHEMA public FROM public");
  EXPECT_TRUE(says(open_store(other), "GRANT USAGE ON SCHEMA public TO \"clerk\""));
}

TEST(PostgresRole, ThatMayNotCreateTablesGetsAHint) {
  const std::string url = new_database();
  const std::string other = as_clerk(url);
  run(url, "REVOKE CREATE ON SCHEMA public FROM PUBLIC");
  const auto refused = open_store(other);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(" store migrate"), std::string::npos)
      << refused.error().message;
  run(url, "GRANT CREATE ON SCHEMA public TO clerk");
  EXPECT_TRUE(works(open_store(other)));
}

// Like an administrator, while others write and open the tables.
TEST(PostgresMigration, BuildsIndexesBesideWriters) {
  const std::string url = made_database();
  run(url,
      "INSERT INTO reprise_heads(tenant, session_id, head, branch, updated_us, state, folder)"
      " SELECT 'many', 's' || i, 0, 0, i * 70000000::int8, 0, '/'"
      " FROM generate_series(1, 12000) AS i");
  std::vector<std::string> steps;
  const auto note = [&steps](std::string_view step) { steps.emplace_back(step); };
  const std::vector<std::string> outstanding = {"version 7: a column of colours",
                                                "version 8: an index of colours"};
  must(migrate_with_steps(url, note, postgres::DryRun::yes));
  EXPECT_EQ(steps, outstanding);
  EXPECT_EQ(versions_of(url), "6");
  std::atomic<bool> is_over = false;
  std::atomic<int> written = 0;
  std::vector<std::jthread> others;
  for (int writer = 0; writer < 4; ++writer) {
    others.emplace_back([&, writer] {
      const std::string change =
          cat("UPDATE reprise_heads SET head = head + 1 WHERE tenant = 'many'"
              " AND session_id = 's",
              5000 + writer, "'");
      while (!is_over || written < 4) {
        run(url, change);
        ++written;
        std::this_thread::sleep_for(kPause);
      }
    });
  }
  others.emplace_back([&] {
    while (!is_over) {
      EXPECT_TRUE(works(open_with_steps(url)));
    }
  });
  steps.clear();
  const auto migrated = migrate_with_steps(url, note);
  is_over = true;
  others.clear();
  ASSERT_TRUE(works(migrated)) << steps.back();
  EXPECT_EQ(query(url, "SELECT sum(head) FROM reprise_heads WHERE tenant = 'many'"),
            std::to_string(written));
  EXPECT_NE(std::ranges::find(steps, "building the index reprise_by_colour"), steps.end());
  EXPECT_EQ(versions_of(url), "6 7 8");
  EXPECT_EQ(query(url,
                  "SELECT indisvalid FROM pg_index WHERE indexrelid ="
                  " to_regclass('reprise_by_colour')"),
            "true");
  steps.clear();
  must(migrate_with_steps(url, note));
  EXPECT_EQ(steps, std::vector<std::string>{});
}

TEST(PostgresMigration, WaitsForALongTransactionAndNamesIt) {
  const std::string url = made_database();
  auto holder = std::make_unique<Holder>(cat(url, "&application_name=backup"), kReadsHeads);
  std::vector<std::string> waits;
  must(migrate_with_steps(url, [&](std::string_view step) {
    if (step.starts_with("waiting for ")) {
      waits.emplace_back(step);
      holder.reset();
    }
  }));
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_NE(waits[0].find("(backup, role reprise) on reprise_heads"), std::string::npos)
      << waits[0];
  EXPECT_EQ(versions_of(url), "6 7 8");
}

// Programs that opened the store without the function use two round trips, and so do those whose
// function was removed.
TEST(PostgresMigration, MakesAFunctionForAppendsToDistributedTables) {
  const std::string url = new_database();
  must(must(open_store(url))->create(session("s")));
  const auto steps = [&url](bool dry_run) {
    std::vector<std::string> all;
    must(migrate_store(url, {}, {.dry_run = dry_run, .on_step = [&all](std::string_view step) {
                                   all.emplace_back(step);
                                 }}));
    return all;
  };
  EXPECT_TRUE(steps(false).empty());
  distribute(url);
  StoreStatistics statistics;
  const auto open = [&] { return must(open_store(url, {.statistics = &statistics})); };
  const auto round_trips = [&](Store& store, const AppendOptions& options, int count = 1) {
    const std::int64_t before = statistics.counts().round_trips.count;
    must(store.append(session_id("s"), messages(count), options));
    return statistics.counts().round_trips.count - before;
  };
  const auto earlier = open();
  EXPECT_EQ(steps(true).size(), 1U);
  EXPECT_EQ(round_trips(*open(), {}), 2);
  EXPECT_EQ(steps(false).size(), 1U);
  EXPECT_TRUE(steps(false).empty());
  const auto store = open();
  EXPECT_EQ(round_trips(*store, {.expected_head = Seq{1}}), 1);
  EXPECT_EQ(round_trips(*earlier, {.expected_head = Seq{2}}), 2);
  EXPECT_EQ(round_trips(*store, {.operation = operation_id("op")}), 1);
  EXPECT_EQ(round_trips(*store, {.expected_head = Seq{4}}, 3), 1);
  EXPECT_TRUE(must(earlier->append(session_id("s"), messages(1), {.operation = operation_id("op")}))
                  .repeated);
  EXPECT_TRUE(fails(store->append(session_id("s"), messages(1), {.expected_head = Seq{3}}),
                    Code::conflict));
  EXPECT_EQ(must(read_all(*store, session_id("s"))).size(), 7U);

  run(url, "UPDATE pg_dist_partition SET colocationid = 2");  // the tables are distributed anew
  EXPECT_EQ(round_trips(*open(), {}), 2);
  EXPECT_EQ(steps(false).size(), 1U);
  EXPECT_EQ(round_trips(*open(), {}), 1);

  run(url,
      "DO 'DECLARE f regprocedure; BEGIN FOR f IN SELECT oid FROM pg_proc"
      " WHERE proname = ''reprise_append_1'' LOOP EXECUTE ''DROP FUNCTION '' || f; END LOOP; END'");
  EXPECT_EQ(round_trips(*store, {.operation = operation_id("without")}), 3);
  EXPECT_TRUE(
      must(store->append(session_id("s"), messages(1), {.operation = operation_id("without")}))
          .repeated);
  EXPECT_EQ(must(read_all(*store, session_id("s"))).size(), 10U);
}

// A role that may not create tables uses existing ones, and gets a hint if there are none.
TEST(PostgresRole, WithoutTheRightToCreateTablesUsesThem) {
  const std::string url = new_database();
  const std::string role = cat("r", url.substr(url.rfind('/') + 2, 12));
  run(url, cat("CREATE ROLE ", role, " LOGIN"));
  run(url, "REVOKE CREATE ON SCHEMA public FROM public");
  std::string plain = url;
  plain.replace(plain.find("reprise@"), 7, role);
  const auto refused = open_store(plain);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("store migrate"), std::string::npos)
      << refused.error().message;
  must(migrate_store(url));
  run(url, cat("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ", role));
  const auto store = must(open_store(plain));
  must(store->create(session("s")));
  must(store->append(session_id("s"), messages(1), {}));
  EXPECT_EQ(must(read_all(*store, session_id("s"))).size(), 1U);
}

// An index whose build was interrupted is unusable, and is built again.
TEST(PostgresMigration, BuildsABrokenIndexAgain) {
  const std::string url = made_database();
  must(open_with_steps(url));  // takes the quick one
  run(url, kIndex[0]);
  run(url,
      "UPDATE pg_index SET indisvalid = false"
      " WHERE indexrelid = to_regclass('reprise_by_colour')");
  must(migrate_with_steps(url));
  EXPECT_EQ(query(url,
                  "SELECT indisvalid FROM pg_index WHERE indexrelid ="
                  " to_regclass('reprise_by_colour')"),
            "true");
}

// Also where a pooler gives the server's connections to others afterwards (through_pgbouncer), and
// where others have prepared statements on them.
TEST(PostgresMigration, LeavesConnectionsAsTheyWere) {
  const std::string url = new_database();
  const std::size_t slash = url.rfind('/') + 1;
  const std::string name = url.substr(slash, url.find('?') - slash);
  run(postgres_url("default"), cat("ALTER DATABASE ", name, " SET lock_timeout = '7s'"));
  must(open_store(url));
  must(migrate_with_steps(url));
  EXPECT_EQ(query(url, "SELECT count(*) FROM pg_class WHERE relname = 'reprise_by_colour'"), "1");
  EXPECT_EQ(query(url, "SELECT current_setting('lock_timeout')"), "7s");
}

// Operations of sessions without recent activity have expired.
TEST(PostgresSweep, OperationsOfOldSessionsAreForgotten) {
  const std::string url = new_database();
  const auto store = must(open_store(url));
  for (const char* const name : {"old", "new"}) {
    must(store->create(session(name)));
    must(store->append(session_id(name), messages(1), {.operation = operation_id("op")}));
  }
  run(url, "UPDATE reprise_heads SET updated_us = 1 WHERE session_id = 'old'");
  run(url, "UPDATE reprise_heads SET updated_us = 4000000000000000 WHERE session_id = 'new'");
  EXPECT_EQ(must(store->capabilities().tenants->forget_operations(std::chrono::hours(24 * 7))), 2)
      << "its creation and its append";
  EXPECT_TRUE(
      must(store->append(session_id("new"), {}, {.operation = operation_id("op")})).repeated);
  EXPECT_EQ(query(url, "SELECT count(*) FROM reprise_once WHERE session_id = 'old'"), "0");
  must(must(store->capabilities().tenants->of("another"))->create(session("s")));
  EXPECT_EQ(must(store->capabilities().tenants->names()),
            (std::vector<std::string>{"another", "default"}));
  EXPECT_EQ(must(store->capabilities().tenants->forget_operations(std::chrono::hours(24 * 7))), 0);
}

}  // namespace
}  // namespace reprise::test
