// Faults of servers: they are unavailable, close connections, detect conflicting writers,
// acknowledge commits that the standby has not confirmed, or a client locks a session.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "base/text.h"
#include "postgres/fault_proxy.h"
#include "postgres/server_support.h"
#include "reprise/open_store.h"
#include "store/postgres/server_error.h"
#include "support/build.h"
#include "support/must.h"
#include "support/postgres_server.h"

namespace reprise::test {
namespace {

TEST(PostgresAway, AServerThatStaysAwayIsWaitedForOnce) {
  FaultProxy proxy(postgres_url(new_tenant()));
  const auto store = must(open_store(proxy.url(), {.busy_timeout = std::chrono::seconds(1)}));
  must(store->create(session("s")));
  proxy.go_away();
  const int before = proxy.connections();
  const auto appended = store->append(session_id("s"), messages(1), {});
  ASSERT_TRUE(fails(appended, Code::io));
  EXPECT_NE(appended.error().message.find("postgres://127.0.0.1"), std::string::npos);
  const int waiting = proxy.connections();
  EXPECT_GT(waiting, before + 2) << "it was tried again and again";
  EXPECT_TRUE(fails(store->append(session_id("s"), messages(1), {}), Code::io));
  EXPECT_LE(proxy.connections(), waiting + 2) << "and then once, with and without encryption";
  proxy.come_back();
  EXPECT_TRUE(works(store->append(session_id("s"), messages(1), {})));
  EXPECT_EQ(must(read_all(*store, session_id("s"))).size(), 1U);
}

// A process that starts after one server has failed and before the other takes over.
TEST(PostgresAway, AStartingProcessWaitsForOneOfSeveralServers) {
  FaultProxy first(postgres_url(new_tenant()));
  FaultProxy second(postgres_url(new_tenant()));
  first.go_away();
  second.go_away();
  std::jthread promotion([&second](const std::stop_token& stop) {
    while (second.connections() < 3 && !stop.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    second.come_back();
  });
  const std::string one = first.url();
  const std::string other = second.url();
  const std::size_t host = one.find('@') + 1;
  const std::string hosts = cat(
      one.substr(host, one.find('/', host) - host), ",",
      other.substr(other.find('@') + 1, other.find('/', other.find('@')) - other.find('@') - 1));
  std::vector<std::string> notices;
  StoreOptions options;
  options.on_warning = [&notices](std::string_view text) { notices.emplace_back(text); };
  const auto store =
      open_store(cat(one.substr(0, host), hosts, one.substr(one.find('/', host))), options);
  EXPECT_TRUE(works(store));
  EXPECT_EQ(notices.size(), 1U);
}

// A role that may have one connection, as superusers may have any number.
class PostgresFull : public testing::Test {
 protected:
  PostgresFull() {
    must(open_store(server_));
    run(server_, cat("CREATE ROLE ", role_, " LOGIN CONNECTION LIMIT 1"));
    run(server_,
        cat("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ", role_));
    url_.replace(url_.find("reprise@"), 7, role_);
  }

  const std::string server_ = new_database();
  const std::string role_ = cat("full", server_.substr(server_.rfind('/') + 2, 16));
  std::string url_ = server_;
};

TEST_F(PostgresFull, AFreeConnectionIsWaitedForWhenAStoreIsOpened) {
  auto holder = std::make_unique<Holder>(url_, "SELECT 1");
  std::vector<std::string> notices;
  StoreOptions options;
  options.on_warning = [&](std::string_view text) {
    notices.emplace_back(text);
    holder.reset();
  };
  EXPECT_TRUE(works(open_store(url_, options)));
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_NE(notices[0].find("waiting for a connection to postgres://127.0.0.1:"), std::string::npos)
      << notices[0];
}

TEST_F(PostgresFull, AServerThatStaysFullIsBusy) {
  const auto store = must(open_store(url_, {.busy_timeout = std::chrono::seconds(1)}));
  run(server_,
      cat("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '", role_, "'"));
  const Holder holder(url_, "SELECT 1");
  EXPECT_TRUE(fails(open_store(url_, {.busy_timeout = std::chrono::seconds(1)}), Code::busy));
  EXPECT_TRUE(fails(store->create(session("s")), Code::busy));
}

TEST(PostgresConnectError, IsUnderstoodInAnyLanguage) {
  const auto from = [](std::string_view sqlstate) {
    return postgres::connect_error(
        cat("Verbindung zum Server auf »127.0.0.1«, Port 5432 fehlgeschlagen: FATAL:  ", sqlstate,
            ": es geht nicht\nORT:  InitPostgres, postinit.c:720\n"));
  };
  EXPECT_EQ(from("53300").code, Code::busy);
  EXPECT_EQ(from("28P01").code, Code::unauthorized);
  EXPECT_EQ(from("28000").code, Code::unauthorized);
  EXPECT_EQ(from("3D000").code, Code::not_found);
  EXPECT_EQ(from("57P03").code, Code::io);
  EXPECT_EQ(
      from("3D000").message,
      "Verbindung zum Server auf »127.0.0.1«, Port 5432 fehlgeschlagen: FATAL:  es geht nicht");
  EXPECT_EQ(postgres::connect_error("could not translate host name \"role \" to address").code,
            Code::io);
}

TEST(PostgresConnectError, NamesAServerThatRefuses) {
  const auto says = [](std::string_view text) { return postgres::connect_error(text).message; };
  EXPECT_EQ(says("connection to server at \"127.0.0.1\", port 1 failed: Connection refused\n"
                 "\tIs the server running on that host and accepting TCP/IP connections?\n"),
            "nothing answers at 127.0.0.1:1: check that the server is running and that the URL is "
            "correct");
  EXPECT_EQ(
      says("connection to server at \"localhost\" (::1), port 7 failed: Connection refused\n"
           "\tIs the server running on that host and accepting TCP/IP connections?\n"
           "connection to server at \"localhost\" (127.0.0.1), port 7 failed: Connection refused\n"
           "\tIs the server running on that host and accepting TCP/IP connections?\n"),
      "nothing answers at localhost:7: check that the server is running and that the URL is "
      "correct");
  EXPECT_EQ(says("connection to server on socket \"/x\" failed: No such file or directory\n"
                 "\tIs the server running locally?\n"),
            "connection to server on socket \"/x\" failed: No such file or directory Is the server "
            "running locally?");
}

// A server that is reachable, but cannot reach a node that it needs.
TEST(PostgresAway, ANodeThatStaysAwayIsWaitedForOnce) {
  const std::string url = new_database();
  const auto store = must(open_store(url, {.busy_timeout = std::chrono::seconds(2)}));
  must(store->create(session("s")));
  run(url,
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
      " RAISE EXCEPTION 'no node' USING ERRCODE = '08006'; END $$");
  run(url, "CREATE TRIGGER refuse BEFORE UPDATE ON reprise_heads EXECUTE FUNCTION refuse()");
  EXPECT_TRUE(fails(store->append(session_id("s"), messages(1), {}), Code::io));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(fails(store->append(session_id("s"), messages(1), {}), Code::io));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

// Connections closed by the server, like at shutdown.
TEST(PostgresEnds, AppendsContinueWhileTheServerClosesConnections) {
  const std::string tenant = new_tenant();
  const std::string url = postgres_url(tenant);
  const auto store = must(open_store(cat(url, "&application_name=", tenant)));
  must(store->create(session("s")));
  std::atomic<bool> is_over = false;
  std::jthread ender([&] {
    const std::string end =
        cat("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE application_name = '",
            tenant, "'");
    while (!is_over) {
      query(url, end);
    }
  });
  constexpr int kAppends = 100;
  for (int number = 0; number < kAppends; ++number) {
    ASSERT_TRUE(works(store->append(session_id("s"), {user(std::to_string(number))}, {})));
  }
  is_over = true;
  ender.join();
  const auto all = must(read_all(*store, session_id("s")));
  ASSERT_EQ(all.size(), static_cast<std::size_t>(kAppends));
  for (std::size_t place = 0; place < all.size(); ++place) {
    EXPECT_EQ(plain_text(all[place]), std::to_string(place));
  }
}

std::string database_in(std::string_view url) {
  const std::size_t slash = url.rfind('/') + 1;
  return std::string(url.substr(slash, url.find('?') - slash));
}

// If all transactions are serializable, many fail with 40001 and are retried.
TEST(PostgresSerializable, AppendsAreRetriedUntilTheySucceed) {
  const std::string url = new_database();
  must(open_store(url));
  run(url, cat("ALTER DATABASE ", database_in(url),
               " SET default_transaction_isolation = 'serializable'"));
  const auto store = must(open_store(url, {.busy_timeout = std::chrono::minutes(1)}));
  must(store->create(session("s")));
  constexpr int kThreads = 8;
  constexpr int kAppends = 20;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&] {
        for (int number = 0; number < kAppends; ++number) {
          EXPECT_TRUE(works(store->append(session_id("s"), messages(2), {})));
        }
      });
    }
  }
  const auto all = must(read_all(*store, session_id("s")));
  ASSERT_EQ(all.size(), static_cast<std::size_t>(kThreads * kAppends * 2));
  EXPECT_EQ(all.back().seq.value, kThreads * kAppends * 2 - 1);
}

// The server reports a commit whose wait for the standby was cancelled as done. It is, but would be
// lost with the server.
TEST(PostgresStandby, ACommitThatItHasNotConfirmedIsNotAcknowledged) {
  const std::string url = new_database();
  must(must(open_store(url))->create(session("s")));
  const std::string server = postgres_url("default");
  run(server, cat("ALTER DATABASE ", database_in(url), " SET synchronous_commit = 'on'"));
  const auto waiting = must(open_store(url, {.busy_timeout = std::chrono::seconds(2)}));
  std::atomic<bool> is_over = false;
  std::jthread canceller([&] {
    const std::string cancel =
        cat("SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity"
            " WHERE wait_event = 'SyncRep' AND datname = '",
            database_in(url), "'");
    while (!is_over) {
      query(server, cancel);
    }
  });
  const AppendOptions options{.operation = operation_id("op")};
  EXPECT_FALSE(waiting->append(session_id("s"), messages(1), options));
  EXPECT_FALSE(waiting->create(session("other")));
  is_over = true;
  canceller.join();

  run(server, cat("ALTER DATABASE ", database_in(url), " SET synchronous_commit = 'local'"));
  const auto store = must(open_store(url));
  EXPECT_TRUE(must(store->append(session_id("s"), messages(1), options)).repeated);
  EXPECT_EQ(must(read_all(*store, session_id("s"))).size(), 1U);
}

// A client that keeps a session locked.
TEST(PostgresLock, AHeldSessionIsBusyInTimeAndCanBeRead) {
  const std::string tenant = new_tenant();
  const auto store =
      must(open_store(postgres_url(tenant), {.busy_timeout = std::chrono::seconds(1)}));
  must(store->create(session("s")));
  const Holder holder(postgres_url(tenant),
                      cat("SELECT 1 FROM reprise_heads WHERE tenant = '", tenant, "' FOR UPDATE"));
  EXPECT_TRUE(fails(store->append(session_id("s"), messages(1), {}), Code::busy));
  EXPECT_TRUE(works(store->find(session_id("s"))));
  EXPECT_TRUE(works(read_all(*store, session_id("s"))));
}

}  // namespace
}  // namespace reprise::test
