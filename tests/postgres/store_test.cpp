// Specific to this store: tenants, its URL, tables created concurrently by many clients.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <future>
#include <thread>

#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "postgres/server_support.h"
#include "reprise/open_store.h"
#include "reprise/store_statistics.h"
#include "session/prices.h"
#include "session/statistics.h"
#include "store/postgres/connection.h"
#include "store/postgres/schema.h"
#include "store/postgres/url.h"
#include "support/build.h"
#include "support/must.h"
#include "support/postgres_server.h"

namespace reprise::test {
namespace {

TEST(PostgresStore, TenantsAreIsolated) {
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

TEST(PostgresStore, ATenantMayBePercentEncoded) {
  const std::string url = new_database();
  const std::string place = url.substr(0, url.find('?'));
  must(must(open_store(cat(place, "?tenant=ann@x.org")))->create(session("s")));
  EXPECT_TRUE(must(must(open_store(cat(place, "?tenant=ann%40x%2Eorg")))->find(session_id("s"))));
}

TEST(PostgresStore, KnowsItsUser) {
  const auto store = must(open_store(postgres_url(new_tenant())));
  ASSERT_NE(store->capabilities().user_reader, nullptr);
  EXPECT_EQ(must(store->capabilities().user_reader->user()), must(Author::parse("reprise")));
}

TEST(PostgresStore, InvalidUrlsAreRefusedWithoutTheirPassword) {
  for (const char* url :
       {"postgres://u:sesame@127.0.0.1:1/d?tenant=", "postgres://u:sesame@127.0.0.1:1/d?tenant=/x",
        "postgres://u:sesame@127.0.0.1:1/d?tenant=a%2Fb",
        "postgres://u:sesame@127.0.0.1:1/d?tenant=a%4",
        "postgres://u:sesame@127.0.0.1:1/d?list_from=anywhere",
        "postgres://u:sesame@127.0.0.1:1/d?sesame=1", "postgres://u:sesame@127.0.0.1:1/%zz"}) {
    const auto opened = open_store(url);
    ASSERT_TRUE(fails(opened, Code::invalid_argument)) << url;
    EXPECT_EQ(opened.error().message.find("sesame"), std::string::npos) << opened.error().message;
  }
}

class LockedRole : public testing::Test {
 protected:
  // Creates a role that needs a password; each test has its own.
  void make(std::string_view role) {
    must(open_store(url_));
    run(url_, cat("DROP ROLE IF EXISTS ", role));
    run(url_, cat("CREATE ROLE ", role, " LOGIN SUPERUSER PASSWORD 'sesame'"));
    const std::size_t user = url_.find("reprise@");
    url_.replace(user, std::string_view("reprise").size(), role);
  }

  std::string url_ = new_database();
};

TEST_F(LockedRole, NeedsItsPassword) {
  make("locked1");
  EXPECT_TRUE(fails(open_store(url_), Code::unauthorized));
  std::string with_password = url_;
  with_password.insert(url_.find('@'), ":sesame");
  EXPECT_TRUE(works(open_store(with_password)));
}

TEST_F(LockedRole, IsAskedForItsPasswordOnceAndOnceMoreWhenItIsRefused) {
  make("locked2");
  int password_requests = 0;
  const auto open_with = [&](std::string_view first, std::string_view then) {
    password_requests = 0;
    return open_store(url_,
                      {.password = [&password_requests, first, then]() -> Result<std::string> {
                        return std::string(password_requests++ == 0 ? first : then);
                      }});
  };
  const auto store = open_with("sesame", "");
  ASSERT_TRUE(works(store));
  EXPECT_TRUE(works((*store)->create(session("s"))));
  EXPECT_EQ(password_requests, 1);
  EXPECT_TRUE(works(open_with("expired", "sesame")));
  EXPECT_EQ(password_requests, 2);
  const auto refused = open_with("wrong", "wrong-too");
  ASSERT_TRUE(fails(refused, Code::unauthorized));
  EXPECT_EQ(refused.error().message.find("wrong"), std::string::npos) << refused.error().message;
  EXPECT_EQ(password_requests, 2);
}

// A command that gives a password may take long.
TEST_F(LockedRole, IsAskedForItsPasswordWithoutDelayingOthers) {
  make("locked4");
  std::atomic<int> requests = 0;
  std::promise<void> asked;
  const auto password = [&]() -> Result<std::string> {
    if (++requests == 2) {
      asked.set_value();
      std::this_thread::sleep_for(std::chrono::seconds(2));
    }
    return std::string("sesame");
  };
  const auto store = must(open_store(url_, {.password = password}));
  must(store->create(session("s")));
  must(store->append(session_id("s"), messages(1), {}));
  run(postgres_url(new_tenant()), "ALTER ROLE locked4 PASSWORD 'changed'");
  std::jthread other;
  std::chrono::steady_clock::time_point start;
  must(store->read(session_id("s"), {}, [&](const Message&) {
    other = std::jthread([&] { EXPECT_FALSE(store->find(session_id("s"))); });
    asked.get_future().wait();
    start = std::chrono::steady_clock::now();
    return Flow::stop;
  }));
  EXPECT_TRUE(works(store->find(session_id("s"))));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST_F(LockedRole, HasItsPasswordInAFile) {
  make("locked3");
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "passwords";
  std::ofstream(file) << "*:*:*:locked3:sesame\n";
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  ::setenv("PGPASSFILE", file.c_str(), 1);
  EXPECT_TRUE(works(open_store(url_)));
  ::unsetenv("PGPASSFILE");
}

TEST(PostgresStore, AnUnavailableServerIsReportedAtOnce) {
  const auto opened = open_store("postgres://u:sesame@127.0.0.1:1/d");
  ASSERT_TRUE(fails(opened, Code::io));
  EXPECT_NE(opened.error().message.find("127.0.0.1"), std::string::npos) << opened.error().message;
  EXPECT_EQ(opened.error().message.find("sesame"), std::string::npos) << opened.error().message;
}

// With several hosts, unavailable ones are skipped.
TEST(PostgresStore, AnyOfSeveralHostsWillDo) {
  std::string url = postgres_url(new_tenant());
  const std::size_t host = url.find("127.0.0.1");
  url.insert(host, "127.0.0.1:1,");
  for (const char* more : {"", "&list_from=standby"}) {
    const auto store = open_store(cat(url, more));
    ASSERT_TRUE(works(store)) << more;
    const SessionId id = session_id(cat("s", url.size() + std::string_view(more).size()));
    EXPECT_TRUE(works((*store)->create(session(id.str()))));
    EXPECT_FALSE(must((*store)->list({})).sessions.empty());
  }
}

TEST(PostgresStore, TenClientsCreateTheTablesAtOnce) {
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
  EXPECT_EQ(query(url, "SELECT count(*) FROM reprise_schema"), cat(postgres::migrations().size()));
}

// Even without table statistics: an append that finds its session by an index of activity scans all
// dead entries of previous appends.
TEST(PostgresStore, ASessionIsFoundByItsKey) {
  const std::string url = new_database();
  {
    const auto store = must(open_store(url));
    must(store->create(session("s")));
    for (int i = 0; i < 3; ++i) {
      must(store->append(session_id("s"), messages(1, "m"), {}));
    }
    must(get(*store, session_id("s")));
  }
  const auto scans = [&url](std::string_view index) {
    return query(url,
                 cat("SELECT sum(idx_scan) FROM pg_stat_user_indexes WHERE indexrelname ", index));
  };
  while (std::stoi(scans("= 'reprise_heads_pkey'")) <
         4) {  // complete when the connection has ended
    std::this_thread::yield();
  }
  EXPECT_EQ(
      scans("IN ('reprise_by_slot_title', 'reprise_by_folder_slot', 'reprise_answering_slot')"),
      "0");
}

// The cost must not depend on the number of sessions.
TEST(PostgresStore, SessionsAreFoundByIdPrefixInAnIndex) {
  const std::string url = new_database();
  {
    const auto store = must(open_store(url));
    run(url,
        "INSERT INTO reprise_heads(tenant, session_id, head, branch, updated_us, updated_slot,"
        " state, folder) SELECT 'default', '01a20907-aa38-72ad-9c1b-' || substr(md5(i::text), 1,"
        " 12), 0, 0, i * 70000000::int8, i, 0, '/' FROM generate_series(1, 20000) AS i");
    run(url, "ANALYZE reprise_heads");
    must(store->list({.short_id_prefix = "0123abcd"}));
    must(store->list({.short_id_prefix = "0123abcd"}));
  }
  const auto tuples = [&url](std::string_view column) {
    return query(url, cat("SELECT coalesce(sum(", column,
                          "), 0) FROM pg_stat_user_indexes WHERE indexrelname ",
                          column == "idx_scan" ? "= 'reprise_by_short_id'" : "LIKE '%slot'"));
  };
  while (std::stoi(tuples("idx_scan")) < 2) {  // complete when the connection has ended
    std::this_thread::yield();
  }
  EXPECT_EQ(tuples("idx_tup_read"), "0");
}

// Otherwise each append would add an entry to every index of the heads.
TEST(PostgresStore, AppendsWithinASlotChangeNoIndexOfTheHeads) {
  const std::string url = new_database();
  {
    const auto store = must(open_store(url));
    must(store->create(session("s", at(0))));
    for (int i = 0; i < 10; ++i) {
      must(store->append(session_id("s"), {user("m", at(0, i))}, {}));
    }
  }
  const auto updates = [&url](std::string_view column) {
    return query(url, cat("SELECT ", column,
                          " FROM pg_stat_user_tables"
                          " WHERE relname = 'reprise_heads'"));
  };
  while (std::stoi(updates("n_tup_upd")) < 10) {  // complete when the connection has ended
    std::this_thread::yield();
  }
  EXPECT_EQ(updates("n_tup_hot_upd"), "10");
}

// With long and damaged sessions, which are read one by one.
TEST(PostgresStore, StatisticsTakeFewRoundTrips) {
  const std::string tenant = new_tenant();
  StoreStatistics statistics;
  const auto store = must(open_store(postgres_url(tenant), {.statistics = &statistics}));
  constexpr int kShort = 100;
  for (int i = 0; i < kShort + 2; ++i) {
    const SessionId id = session_id(cat("s", i));
    must(store->create(session(id.str())));
    must(store->append(id, messages(i == kShort ? 40 : 3), {}));
  }
  run(postgres_url(tenant),
      cat("UPDATE reprise_messages SET content = '[' WHERE seq = 1 AND session_id = 's", kShort + 1,
          "' AND tenant = '", tenant, "'"));
  const std::int64_t before = statistics.counts().round_trips.count;
  const StatisticsSource source{"here", store.get()};
  const Statistics found = must(
      compute_statistics(std::span(&source, 1), {.by = StatisticsGrouping::model}, Prices({})));
  EXPECT_EQ(found.total.turns, 20 + kShort * 2 + 2);
  EXPECT_EQ(found.damage.size(), 1U);
  EXPECT_LE(statistics.counts().round_trips.count - before, 15);
}

TEST(PostgresStore, AShortSessionIsReadInTwoRoundTrips) {
  StoreStatistics statistics;
  const auto store = must(open_store(postgres_url(new_tenant()), {.statistics = &statistics}));
  must(store->create(session("s")));
  must(store->append(session_id("s"), messages(3), {}));
  must(store->capabilities().forking->fork(session_id("s"), Seq{2}, session("f")));
  must(store->append(session_id("f"), messages(2), {}));
  const auto round_trips = [&](const SessionId& id, ReadRange range, std::size_t count) {
    const std::int64_t before = statistics.counts().round_trips.count;
    EXPECT_EQ(must(read_all(*store, id, range)).size(), count);
    return statistics.counts().round_trips.count - before;
  };
  EXPECT_EQ(round_trips(session_id("s"), {}, 3), 2);
  EXPECT_EQ(round_trips(session_id("f"), {.from = Seq{2}}, 2), 2);  // its own messages
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

TEST(PostgresStore, TablesOfBuildsBeforeTheFirstReleaseAreLeftAlone) {
  const std::string url = new_database();
  must(open_store(url));
  for (const char* const versions : {"(1)", "(1), (2), (3), (4), (-1), (-10)"}) {
    run(url, "DELETE FROM reprise_schema");
    run(url,
        cat("INSERT INTO reprise_schema SELECT v, 0 FROM (VALUES ", versions, ") AS all_of(v)"));
    const std::string before = query(url, "SELECT count(*) FROM reprise_schema");
    for (const Access access : {Access::write, Access::read}) {
      const auto refused = open_store(url, {.access = access});
      ASSERT_TRUE(fails(refused, Code::unsupported));
      EXPECT_NE(refused.error().message.find(
                    "its tables were made by a build of Reprise before its first release;"
                    " `reprise copy` of that build brings them over"),
                std::string::npos)
          << refused.error().message;
    }
    EXPECT_TRUE(fails(migrate_store(url), Code::unsupported));
    EXPECT_EQ(query(url, "SELECT count(*) FROM reprise_schema"), before);
  }
}

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
          return Flow::proceed;
        }));
    EXPECT_EQ(report.damaged, 2);
    EXPECT_EQ(report.damage.size(), 2U);
    ASSERT_EQ(read.size(), 2U);
    EXPECT_EQ(read.front().seq.value, newest_first ? 3 : 0);
  }
}

// Pages are requested ahead, before it is known that messages are missing.
TEST(PostgresStore, MissingMessagesAreCountedOnceAndTheOthersReadOnce) {
  const std::string url = new_database();
  const auto store = must(open_store(url));
  must(store->create(session("s")));
  must(store->append(session_id("s"), messages(3000), {}));
  query(url,
        "DELETE FROM reprise_messages WHERE seq BETWEEN 300 AND 1900 OR seq = 2100 OR seq = 2999"
        " RETURNING 1");
  for (const bool newest_first : {false, true}) {
    std::vector<std::int64_t> read;
    const auto report =
        must(store->read(session_id("s"), {.newest_first = newest_first}, [&](Message&& message) {
          read.push_back(message.seq.value);
          return Flow::proceed;
        }));
    EXPECT_EQ(report.damaged, 1603);
    EXPECT_EQ(read.size(), 1397U);
    if (newest_first) {
      std::ranges::reverse(read);
    }
    EXPECT_EQ(std::ranges::adjacent_find(read, std::greater_equal()), read.end());
  }
}

// A connection prepares it once for both, and a failed preparation does not count.
TEST(PostgresConnection, AStatementCanBeUsedTwiceInOneRoundTrip) {
  const auto place = must(postgres::parse_url(postgres_url("default")));
  const auto connection = must(postgres::Connection::open(
      place.servers.front(), std::chrono::steady_clock::now() + std::chrono::minutes(1)));
  EXPECT_FALSE(connection->run({{"SELECT 1/0"}, {"SELECT 7 AS seven"}, {"SELECT 7 AS seven"}}));
  EXPECT_FALSE(connection->run_one({"SELECT nothing"}));
  EXPECT_FALSE(connection->run_one({"SELECT nothing"}));
  EXPECT_EQ(connection->failure().sqlstate, "42703");
  const auto rows = must(connection->run({{"SELECT 7 AS seven"}, {"SELECT 7 AS seven"}}));
  EXPECT_EQ(rows[1].integer(0, "seven"), 7);
  for (int i = 0; i < 3; ++i) {
    must(connection->begin({"SELECT 8 AS eight"}));
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(must(connection->fetch_rows()).integer(0, "eight"), 8);
  }
  EXPECT_TRUE(connection->is_idle());
}

}  // namespace
}  // namespace reprise::test
