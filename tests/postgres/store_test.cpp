// What only this store has: tenants, its URL, tables that many clients make at once.

#include "reprise/store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "postgres/server_support.h"
#include "reprise/error.h"
#include "reprise/open_store.h"
#include "reprise/session.h"
#include "support/build.h"
#include "support/must.h"
#include "support/postgres_server.h"

namespace reprise::test {
namespace {

TEST(PostgresStore, TenantsKnowNothingOfEachOther) {
  const std::string tenant = new_tenant();
  const auto one = must(open_store(postgres_url(tenant)));
  const auto other = must(open_store(postgres_url(cat(tenant, "-2"))));
  must(one->create(session("s")));
  EXPECT_EQ(must(other->find(session_id("s"))), std::nullopt);
  EXPECT_TRUE(must(other->list({})).sessions.empty());
  EXPECT_TRUE(fails(other->append(session_id("s"), messages(1), {}), Code::not_found));
  EXPECT_TRUE(works(other->create(session("s"))));
  must(one->append(session_id("s"), messages(2), {}));
  EXPECT_EQ(must(get(*other, session_id("s"))).info.head, Seq{0});
}

TEST(PostgresStore, UrlsThatAreNoneAreRefusedWithoutTheirPassword) {
  for (const char* url :
       {"postgres://u:sesame@127.0.0.1:1/d?tenant=", "postgres://u:sesame@127.0.0.1:1/d?tenant=/x",
        "postgres://u:sesame@127.0.0.1:1/d?list_from=anywhere",
        "postgres://u:sesame@127.0.0.1:1/d?sesame=1", "postgres://u:sesame@127.0.0.1:1/%zz"}) {
    const auto opened = open_store(url);
    ASSERT_TRUE(fails(opened, Code::invalid_argument)) << url;
    EXPECT_EQ(opened.error().message.find("sesame"), std::string::npos) << opened.error().message;
  }
}

TEST(PostgresStore, AServerThatIsNotThereIsSaidAtOnce) {
  const auto opened = open_store("postgres://u:sesame@127.0.0.1:1/d");
  ASSERT_TRUE(fails(opened, Code::io));
  EXPECT_NE(opened.error().message.find("127.0.0.1"), std::string::npos) << opened.error().message;
  EXPECT_EQ(opened.error().message.find("sesame"), std::string::npos) << opened.error().message;
}

TEST(PostgresStore, TenClientsMakeTheTablesAtOnce) {
  const std::string url = new_database();
  std::atomic<int> opened = 0;
  {
    std::vector<std::jthread> clients;
    for (int client = 0; client < 10; ++client) {
      clients.emplace_back([&, client] {
        const auto store = open_store(url);
        EXPECT_TRUE(works(store));
        EXPECT_TRUE(works((*store)->create(session(cat("s", client)))));
        ++opened;
      });
    }
  }
  EXPECT_EQ(opened, 10);
  EXPECT_EQ(must(must(open_store(url))->list({})).sessions.size(), 10U);
  EXPECT_EQ(query(url, "SELECT count(*) FROM reprise_schema"), "1");
}

TEST(PostgresStore, ReadingChangesNothing) {
  const std::string url = new_database();
  EXPECT_TRUE(fails(open_store(url, {.access = Access::read}), Code::not_found));
  EXPECT_EQ(query(url, "SELECT count(*) FROM pg_class WHERE relname LIKE 'reprise%'"), "0");
  must(must(open_store(url))->create(session("s")));
  const auto store = must(open_store(url, {.access = Access::read}));
  EXPECT_EQ(must(get(*store, session_id("s"))), session("s"));
  EXPECT_TRUE(fails(store->append(session_id("s"), messages(1), {}), Code::unsupported));
}

TEST(PostgresStore, TablesOfANewerVersionAreLeftAlone) {
  const std::string url = new_database();
  must(open_store(url));
  query(url, "INSERT INTO reprise_schema VALUES(1000, 0) RETURNING 1");
  EXPECT_TRUE(fails(open_store(url), Code::unsupported));
}

// A failed statement in the middle of a database must not be a failed store.
TEST(PostgresStore, ADamagedMessageCostsOnlyItself) {
  const std::string url = new_database();
  const auto store = must(open_store(url));
  must(store->create(session("s")));
  must(store->append(session_id("s"), messages(4), {}));
  query(url, "UPDATE reprise_messages SET content = '[{' WHERE seq = 1 RETURNING 1");
  query(url, "DELETE FROM reprise_messages WHERE seq = 2 RETURNING 1");
  for (const bool newest_first : {false, true}) {
    std::vector<Message> read;
    const auto report =
        must(store->read(session_id("s"), {.newest_first = newest_first}, [&](Message&& message) {
          read.push_back(std::move(message));
          return Flow::go_on;
        }));
    EXPECT_EQ(report.damaged, 2);
    EXPECT_EQ(report.damage.size(), 2U);
    ASSERT_EQ(read.size(), 2U);
    EXPECT_EQ(read.front().seq.value, newest_first ? 3 : 0);
  }
}

}  // namespace
}  // namespace reprise::test
