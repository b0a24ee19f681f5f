// Tables of earlier versions are read as they are, and made current by whoever writes.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/text.h"
#include "postgres/server_support.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "store/postgres/schema.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

// A database as version `version` left it, with sessions a, b and c: c is the one of last activity,
// then a, some hours before.
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

TEST_P(PostgresUpgrade, OldTablesAreReadAsTheyAre) {
  const std::string url = database_of(GetParam());
  const auto store = must(open_store(url, {.access = Access::read}));
  EXPECT_EQ(order_of(*store), "cab");
  EXPECT_EQ(texts(must(read_all(*store, session_id("a")))), std::vector<std::string>{"Hello"});
  EXPECT_EQ(query(url, "SELECT max(version) FROM reprise_schema"), cat(GetParam()));
}

TEST_P(PostgresUpgrade, WhoeverWritesMakesThemCurrentWithAllThatTheyHave) {
  const std::string url = database_of(GetParam());
  {
    std::vector<std::jthread> clients;
    for (int client = 0; client < 10; ++client) {
      clients.emplace_back([&url] { EXPECT_TRUE(works(open_store(url))); });
    }
  }
  EXPECT_EQ(query(url, "SELECT max(version) FROM reprise_schema"), cat(postgres::kVersion));
  const auto store = must(open_store(url));
  EXPECT_EQ(order_of(*store), "cab");
  EXPECT_EQ(texts(must(read_all(*store, session_id("a")))), std::vector<std::string>{"Hello"});
  must(store->append(session_id("b"), messages(1), {}));
  EXPECT_EQ(order_of(*store), "bca");
  must(store->update(session_id("a"), {.pinned = true}));
  EXPECT_EQ(order_of(*store), "abc");
  // A program that does not know pins takes the version that it knows, and leaves them alone.
  run(url,
      "INSERT INTO reprise_heads(tenant, session_id, head, branch, updated_us, state, folder)"
      " VALUES('default', 'd', 0, 0, 8, 0, '/')");
  run(url,
      "INSERT INTO reprise_sessions(tenant, session_id, title, title_lower, mode, provider, model,"
      " working_dir, created_us) VALUES('default', 'd', 'T', 't', '', '', '', '/', 1)");
  EXPECT_EQ(order_of(*store), "abcd");
  EXPECT_TRUE(must(store->capabilities().verifying->verify()).damage.empty());
}

// As somebody who may use the tables and owns none.
std::string as_clerk(std::string url) {
  run(url,
      "DO $$ BEGIN CREATE ROLE clerk LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$");
  const auto user = url.find("://") + 3;
  return url.replace(user, url.find('@') - user, "clerk");
}

TEST(PostgresRole, ThatMayNotChangeOldTablesIsToldWhatTheirOwnerRuns) {
  const std::string url = database_of(1);
  const std::string other = as_clerk(url);
  run(url, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO clerk");
  const auto refused = open_store(other);
  ASSERT_FALSE(refused);
  EXPECT_NE(
      refused.error().message.find("their owner runs once: reprise --store 'postgres://OWNER@"),
      std::string::npos)
      << refused.error().message;
  EXPECT_NE(refused.error().message.find("' doctor"), std::string::npos);
  must(open_store(url));
  EXPECT_TRUE(works(open_store(other)));
}

TEST(PostgresRole, ThatMayNotMakeTablesIsToldWhatAnAdministratorRuns) {
  const std::string url = new_database();
  const std::string other = as_clerk(url);
  run(url, "REVOKE CREATE ON SCHEMA public FROM PUBLIC");
  const auto refused = open_store(other);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("GRANT CREATE ON SCHEMA public TO"), std::string::npos)
      << refused.error().message;
  run(url, "GRANT CREATE ON SCHEMA public TO clerk");
  EXPECT_TRUE(works(open_store(other)));
}

INSTANTIATE_TEST_SUITE_P(Versions, PostgresUpgrade, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace reprise::test
