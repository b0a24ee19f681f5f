// Tables of earlier versions can be read without migration, and are migrated by writers.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "postgres/server_support.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "reprise/store_statistics.h"
#include "store/postgres/schema.h"
#include "support/build.h"
#include "support/must.h"
#include "support/postgres_server.h"

namespace reprise::test {
namespace {

constexpr std::chrono::milliseconds kPause{10};  // leaves the server time for others

// A database of version `version` with sessions a, b and c: c has the latest activity, then a, some
// hours earlier.
std::string database_of(std::int64_t version) {
  const std::string url = new_database();
  run(url, postgres::schema_statements()[0]);
  for (const postgres::Migration& migration : postgres::migrations()) {
    if (migration.number > 0 && migration.number <= version) {
      for (const std::string_view statement : migration.statements) {
        run(url, statement);
      }
      run(url, cat("INSERT INTO reprise_schema VALUES(", migration.number, ", 0)"));
    }
  }
  run(url,
      "INSERT INTO reprise_heads(tenant, session_id, head, branch, updated_us, state, folder)"
      " VALUES('default', 'a', 1, 0, 20000000000, 0, '/'), ('default', 'b', 0, 0, 7, 0, '/'),"
      " ('default', 'c', 0, 0, 90000000000, 0, '/')");
  run(url,
      "INSERT INTO reprise_sessions(tenant, session_id, title, title_lower, mode, provider, model,"
      " working_dir, created_us) SELECT tenant, session_id, 'T', 't', '', '', '', '/', 1"
      " FROM reprise_heads");
  run(url,
      "INSERT INTO reprise_messages(tenant, session_id, branch, seq, created_us, more, role,"
      R"( content) VALUES('default', 'a', 0, 0, 3, 0, 'user', '[{"type":"text","text":"Hello"}]'))");
  return url;
}

std::string order_of(Store& store) {
  std::string order;
  SessionQuery query = {.limit = 2};
  do {
    const SessionPage page = must(store.list(query));
    for (const SessionInfo& info : page.sessions) {
      order += info.id.str();
    }
    query.after = page.next;
  } while (!query.after.empty());
  return order;
}

class PostgresUpgrade : public testing::TestWithParam<std::int64_t> {};

TEST_P(PostgresUpgrade, OldTablesAreReadWithoutMigration) {
  const std::string url = database_of(GetParam());
  const auto store = must(open_store(url, {.access = Access::read}));
  EXPECT_EQ(order_of(*store), "cab");
  EXPECT_TRUE(fails(store->list({.author = must(Author::parse("Ann"))}), Code::unsupported));
  EXPECT_EQ(texts(must(read_all(*store, session_id("a")))), std::vector<std::string>{"Hello"});
  EXPECT_EQ(query(url, "SELECT max(version) FROM reprise_schema"), cat(GetParam()));
}

TEST_P(PostgresUpgrade, WritersMigrateThemWithAllData) {
  const std::string url = database_of(GetParam());
  {
    std::vector<std::jthread> clients;
    for (int client = 0; client < 10; ++client) {
      clients.emplace_back([&url] { EXPECT_TRUE(works(open_store(url))); });
    }
  }
  const auto store = must(open_store(url));
  EXPECT_EQ(query(url, "SELECT max(version) FROM reprise_schema"), cat(postgres::kVersion));
  EXPECT_EQ(order_of(*store), "cab");
  EXPECT_EQ(texts(must(read_all(*store, session_id("a")))), std::vector<std::string>{"Hello"});
  must(store->append(session_id("b"), messages(1), {}));
  EXPECT_EQ(order_of(*store), "bca");
  must(store->update(session_id("a"), {.pinned = true}));
  EXPECT_EQ(order_of(*store), "abc");
  // An older program without pins uses its own version and ignores them.
  run(url,
      "INSERT INTO reprise_heads(tenant, session_id, head, branch, updated_us, state, folder)"
      " VALUES('default', 'd', 0, 0, 8, 0, '/')");
  run(url,
      "INSERT INTO reprise_sessions(tenant, session_id, title, title_lower, mode, provider, model,"
      " working_dir, created_us) VALUES('default', 'd', 'T', 't', '', '', '', '/', 1)");
  EXPECT_EQ(order_of(*store), "abcd");
  Message question = user("Why?");
  question.author = must(Author::parse("Ann"));
  must(store->append(session_id("c"), {question}, {}));
  const SessionPage of_ann = must(store->list({.author = question.author}));
  ASSERT_EQ(of_ann.sessions.size(), 1U);
  EXPECT_EQ(of_ann.sessions.front().id, session_id("c"));
  EXPECT_TRUE(must(store->capabilities().verifier->verify()).damage.empty());
}

// As a role that may use the tables, but does not own them.
std::string as_clerk(std::string url) {
  run(url,
      "DO $$ BEGIN CREATE ROLE clerk LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$");
  const auto user = url.find("://") + 3;
  return url.replace(user, url.find('@') - user, "clerk");
}

TEST(PostgresRole, ThatMayNotMigrateOldTablesGetsAHint) {
  const std::string url = database_of(1);
  const std::string other = as_clerk(url);
  run(url, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO clerk");
  const auto refused = open_store(cat(other, "&password=secret&sslmode=prefer"));
  ASSERT_FALSE(refused);
  const std::size_t at = url.find('@') + 1;
  const std::string hint =
      cat("://OWNER@", url.substr(at, url.find('?') - at), "?sslmode=prefer' store migrate");
  EXPECT_NE(refused.error().message.find(hint), std::string::npos) << refused.error().message;
  must(open_store(url));
  EXPECT_TRUE(works(open_store(other)));
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
  EXPECT_NE(refused.error().message.find("' store migrate"), std::string::npos)
      << refused.error().message;
  run(url, "GRANT CREATE ON SCHEMA public TO clerk");
  EXPECT_TRUE(works(open_store(other)));
}

// Like an administrator, while others write.
TEST_P(PostgresUpgrade, TheTablesAreMigratedBesideWriters) {
  const std::string url = database_of(GetParam());
  run(url,
      "INSERT INTO reprise_heads(tenant, session_id, head, branch, updated_us, state, folder)"
      " SELECT 'many', 's' || i, 0, 0, i * 70000000::int8, 0, '/'"
      " FROM generate_series(1, 12000) AS i");
  run(url,
      "INSERT INTO reprise_sessions(tenant, session_id, title, title_lower, mode, provider, model,"
      " working_dir, created_us) SELECT tenant, session_id, 'T', convert_to(session_id, 'UTF8'),"
      " convert_to(repeat(session_id, CASE WHEN session_id LIKE 's7%' THEN 60 ELSE 1 END), "
      "'UTF8'), '', '', '/', 1"
      " FROM reprise_heads WHERE tenant = 'many'");
  std::vector<std::string> steps;
  const auto note = [&steps](std::string_view step) { steps.emplace_back(step); };
  must(migrate_store(url, {}, {.dry_run = true, .on_step = note}));
  EXPECT_FALSE(steps.empty());
  EXPECT_EQ(query(url, "SELECT max(version) FROM reprise_schema"), cat(GetParam()));
  std::atomic<bool> is_over = false;
  std::atomic<int> written = 0;
  std::vector<std::jthread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {  // like a program of the first version
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
  const auto migrated = migrate_store(url, {}, {.on_step = note});
  is_over = true;
  writers.clear();
  ASSERT_TRUE(works(migrated)) << steps.back();
  EXPECT_EQ(query(url, "SELECT sum(head) FROM reprise_heads WHERE tenant = 'many'"),
            std::to_string(written));
  if (GetParam() < postgres::kSlotsVersion) {
    EXPECT_EQ(
        query(url, "SELECT count(*) FROM reprise_heads WHERE updated_slot <> updated_us >> 26"),
        "0");
    EXPECT_TRUE(std::ranges::any_of(
        steps, [](const auto& step) { return step.starts_with("building the index "); }));
  }
  EXPECT_EQ(query(url, "SELECT count(*) FROM pg_index WHERE NOT indisvalid"), "0");
  // With the copies of titles and modes, which lists need not make any more.
  EXPECT_EQ(query(url,
                  "SELECT count(*) FROM reprise_sessions JOIN reprise_heads USING (tenant,"
                  " session_id) WHERE head_digest IS NOT NULL AND title_start = title_lower AND"
                  " CASE WHEN length(mode) > 200 THEN mode_key = convert_to('sha256:' ||"
                  " encode(sha256(mode), 'hex'), 'UTF8') ELSE mode_key = mode END"),
            "12003");
  for (const char* const index : {"short_id", "author", "mode", "title", "mode_slot"}) {
    EXPECT_EQ(query(url, cat("SELECT count(to_regclass('reprise_by_", index, "'))")), "1") << index;
  }
  steps.clear();
  must(migrate_store(url, {}, {.on_step = note}));
  EXPECT_EQ(steps, std::vector<std::string>{});
  EXPECT_EQ(order_of(*must(open_store(url))), "cab");
}

// Like pg_dump.
constexpr std::string_view kReadsHeads = "SELECT count(*) FROM reprise_heads";

TEST(PostgresOpening, NamesTheTransactionThatKeepsItFromAddingAColumn) {
  const std::string url = database_of(1);
  const Holder holder(cat(url, "&application_name=backup"), kReadsHeads);
  std::atomic<bool> is_over = false;
  std::jthread writer([&] {
    const std::string impatient = cat(url, "&options=-c%20lock_timeout%3D3s");
    while (!is_over) {
      run(impatient, "UPDATE reprise_heads SET head = head WHERE session_id = 'a'");
      std::this_thread::sleep_for(kPause);
    }
  });
  const auto refused = open_store(url, {.busy_timeout = std::chrono::seconds(8)});
  is_over = true;
  ASSERT_TRUE(fails(refused, Code::busy));
  for (const char* const part : {"(backup, role reprise)", "reprise_heads", "store migrate"}) {
    EXPECT_NE(refused.error().message.find(part), std::string::npos) << refused.error().message;
  }
}

TEST(PostgresOpening, LeavesLargeTablesToTheAdministrator) {
  const std::string url = database_of(2);
  run(url,
      "INSERT INTO reprise_heads(tenant, session_id, head, branch, updated_us, state, folder)"
      " SELECT 'many', 's' || i, 0, 0, i, 0, '/' FROM generate_series(1, 50001) AS i");
  const auto store = must(open_store(url));
  EXPECT_EQ(query(url, "SELECT max(version) FROM reprise_schema"), "2");
  EXPECT_EQ(order_of(*store), "cab");
  must(store->append(session_id("b"), messages(1), {}));
  must(store->update(session_id("a"), {.pinned = true}));
  must(store->create(session("d")));
  EXPECT_EQ(order_of(*store), "abdc");
  EXPECT_TRUE(must(store->capabilities().verifier->verify()).damage.empty());
  must(migrate_store(url));
  EXPECT_EQ(order_of(*store), "abdc") << "with the statements of version 2";
  EXPECT_EQ(order_of(*must(open_store(url))), "abdc");
}

TEST(PostgresOpening, WorksWhileTheTablesAreMigrated) {
  const std::string url = database_of(1);
  run(url,
      "INSERT INTO reprise_heads(tenant, session_id, head, branch, updated_us, state, folder)"
      " SELECT 'many', 's' || i, 0, 0, i, 0, '/' FROM generate_series(1, 12000) AS i");
  {
    std::vector<std::jthread> programs;
    for (int program = 0; program < 4; ++program) {
      programs.emplace_back([&url, program] {
        for (int i = 0; i < 5; ++i) {
          const auto store = open_store(url);
          ASSERT_TRUE(works(store));
          EXPECT_TRUE(works((*store)->create(session(cat("n", program, "-", i)))));
        }
      });
    }
    EXPECT_TRUE(works(migrate_store(url)));
  }
  EXPECT_EQ(query(url, "SELECT count(*) FROM pg_index WHERE NOT indisvalid"), "0");
  EXPECT_TRUE(must(must(open_store(url))->capabilities().verifier->verify()).damage.empty());
}

TEST(PostgresMigration, WaitsForALongTransactionAndNamesIt) {
  const std::string url = database_of(1);
  auto holder = std::make_unique<Holder>(cat(url, "&application_name=backup"), kReadsHeads);
  std::vector<std::string> waits;
  must(migrate_store(url, {}, {.on_step = [&](std::string_view step) {
                       if (step.starts_with("waiting for ")) {
                         waits.emplace_back(step);
                         holder.reset();
                       }
                     }}));
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_NE(waits[0].find("(backup, role reprise) on reprise_heads"), std::string::npos)
      << waits[0];
  EXPECT_EQ(query(url, "SELECT max(version) FROM reprise_schema"), cat(postgres::kVersion));
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
  const std::string url = new_database();
  must(open_store(url));
  run(url, "DELETE FROM reprise_schema WHERE version = -3");
  run(url,
      "UPDATE pg_index SET indisvalid = false"
      " WHERE indexrelid = to_regclass('reprise_by_short_id')");
  must(migrate_store(url));
  EXPECT_EQ(query(url, "SELECT count(*) FROM pg_index WHERE NOT indisvalid"), "0");
}

// Also where a pooler gives the server's connections to others afterwards (through_pgbouncer), and
// where others have prepared statements on them.
TEST(PostgresMigration, LeavesConnectionsAsTheyWere) {
  const std::string url = new_database();
  const std::size_t slash = url.rfind('/') + 1;
  const std::string name = url.substr(slash, url.find('?') - slash);
  run(postgres_url("default"), cat("ALTER DATABASE ", name, " SET lock_timeout = '7s'"));
  must(open_store(url));
  run(url, "DELETE FROM reprise_schema WHERE version = -3");
  run(url, "DROP INDEX reprise_by_short_id");
  must(migrate_store(url));
  EXPECT_EQ(query(url, "SELECT count(*) FROM pg_class WHERE relname = 'reprise_by_short_id'"), "1");
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

INSTANTIATE_TEST_SUITE_P(Versions, PostgresUpgrade, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace reprise::test
