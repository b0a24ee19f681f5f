// The connections of a process: their number, the order of waiting threads, and sharing among
// tenants.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

#include "base/text.h"
#include "postgres/fault_proxy.h"
#include "postgres/server_support.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"
#include "support/postgres_server.h"

namespace reprise::test {
namespace {

using std::chrono::milliseconds;

class PostgresPool : public testing::Test {
 protected:
  std::unique_ptr<Store> open(int connections_max, milliseconds timeout = milliseconds(10'000)) {
    StoreOptions options;
    options.connections_max = connections_max;
    options.busy_timeout = timeout;
    return must(open_store(cat(postgres_url(tenant_), "&application_name=", tenant_), options));
  }
  int count_connections() const {
    return std::stoi(query(
        postgres_url(tenant_),
        cat("SELECT count(*) FROM pg_stat_activity WHERE application_name = '", tenant_, "'")));
  }
  // A session whose reader uses a connection from its first message on.
  static void fill(Store& store) {
    must(store.create(session("s")));
    must(store.append(session_id("s"), messages(3), {}));
  }

  const std::string tenant_ = new_tenant();
};

TEST_F(PostgresPool, ManyThreadsShareFewConnections) {
  const auto store = open(2);
  constexpr int kThreads = 12;
  constexpr int kAppends = 10;
  std::atomic<bool> is_over = false;
  int most = 0;
  std::jthread sampler([&] {
    while (!is_over) {
      most = std::max(most, count_connections());
    }
  });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&store, id = cat("s", i)] {
        must(store->create(session(id)));
        for (int k = 0; k < kAppends; ++k) {
          must(store->append(session_id(id), messages(1), {}));
        }
      });
    }
  }
  is_over = true;
  sampler.join();
  EXPECT_EQ(most, 2);
  for (int i = 0; i < kThreads; ++i) {
    EXPECT_EQ(must(read_all(*store, session_id(cat("s", i)))).size(), std::size_t{kAppends});
  }
}

// Returns when `thread` of this process has been asleep for a while, like a thread waiting in a
// queue.
void wait_until_asleep(pid_t thread) {
  int asleep = 0;
  for (int i = 0; i < 1'000 && asleep < 3; ++i) {
    std::string number;
    std::string name;
    std::string state;
    std::ifstream(cat("/proc/self/task/", thread, "/stat")) >> number >> name >> state;
    asleep = state == "S" ? asleep + 1 : 0;
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_EQ(asleep, 3) << "thread " << thread << " does not wait";
}

TEST_F(PostgresPool, AReadingThreadGetsASecondConnectionWhileOthersWait) {
  const auto store = open(1);
  fill(*store);
  std::vector<std::jthread> waiting;
  must(store->read(session_id("s"), {}, [&](const Message& message) {
    EXPECT_EQ(must(get(*store, session_id("s"))).info.head, Seq{3});
    for (int i = 0; message.seq == Seq{0} && i < 4; ++i) {
      std::promise<pid_t> thread;
      waiting.emplace_back([&store, &thread, i] {
        thread.set_value(gettid());
        // Uses the pool once; the server orders the appends.
        must(store->append(session_id("s"), messages(1, cat("thread ", i)), {}));
      });
      wait_until_asleep(thread.get_future().get());
    }
    return Flow::proceed;
  }));
  waiting.clear();
  std::vector<std::string> order;
  for (const Message& message : must(read_all(*store, session_id("s")))) {
    order.push_back(plain_text(message));
  }
  order.erase(order.begin(), order.begin() + 3);
  EXPECT_THAT(order, testing::ElementsAre("thread 0 0", "thread 1 0", "thread 2 0", "thread 3 0"));
  EXPECT_EQ(count_connections(), 1);
}

TEST_F(PostgresPool, ATimeoutNamesThePoolAndTheServerCountsAsAvailable) {
  const auto store = open(1, milliseconds(300));
  fill(*store);
  must(store->read(session_id("s"), {.newest_first = false}, [&](const Message&) {
    std::jthread([&] {
      const auto found = store->find(session_id("s"));
      ASSERT_TRUE(fails(found, Code::busy));
      EXPECT_NE(found.error().message.find("all connections of this process are in use: 1 at most"),
                std::string::npos)
          << found.error().message;
    }).join();
    return Flow::stop;
  }));
  EXPECT_TRUE(works(store->find(session_id("s"))));
}

TEST_F(PostgresPool, AThreadThatHasQueuedLongHasTimeForItsWork) {
  const std::string url = new_database();
  StoreOptions options;
  options.connections_max = 1;
  options.busy_timeout = milliseconds(2'000);
  const auto store = must(open_store(url, options));
  fill(*store);
  run(url, "ALTER TABLE reprise_sessions RENAME TO fast");
  run(url, "CREATE VIEW reprise_sessions AS SELECT * FROM fast WHERE pg_sleep(0.5) IS NOT NULL");
  std::jthread waiting;
  must(store->read(session_id("s"), {}, [&](const Message&) {
    std::promise<pid_t> thread;
    waiting = std::jthread([&] {
      thread.set_value(gettid());
      EXPECT_TRUE(works(store->find(session_id("s"))));
    });
    wait_until_asleep(thread.get_future().get());
    std::this_thread::sleep_for(milliseconds(1'700));
    return Flow::stop;
  }));
}

TEST_F(PostgresPool, AThreadWithoutAConnectionIsToldThatTheServerIsAway) {
  FaultProxy proxy(postgres_url(tenant_));
  StoreOptions options;
  options.connections_max = 1;
  options.busy_timeout = milliseconds(2'000);
  const auto store = must(open_store(proxy.url(), options));
  fill(*store);
  std::vector<std::jthread> waiting;
  // The first thread that waits gets the connection in time to try for another second.
  must(store->read(session_id("s"), {}, [&](const Message&) {
    for (int i = 0; i < 2; ++i) {
      std::promise<pid_t> thread;
      waiting.emplace_back([&] {
        thread.set_value(gettid());
        EXPECT_TRUE(fails(store->find(session_id("s")), Code::io));
      });
      wait_until_asleep(thread.get_future().get());
    }
    proxy.go_away();
    std::this_thread::sleep_for(milliseconds(1'500));
    return Flow::stop;
  }));
  waiting.clear();
  proxy.come_back();
  EXPECT_TRUE(works(store->find(session_id("s"))));
}

TEST_F(PostgresPool, AWaitForAConnectionIsCountedAndNamed) {
  StoreStatistics statistics;
  std::vector<std::string> slow;
  StoreOptions options;
  options.connections_max = 1;
  options.statistics = &statistics;
  options.slow_call = milliseconds(30);
  options.on_slow_call = [&slow](const SlowCall& call) {
    slow.push_back(cat(call.call, ": ", call.part));
  };
  const auto store = must(open_store(postgres_url(tenant_), options));
  fill(*store);
  EXPECT_EQ(statistics.counts().connection_waits.count, 0);
  slow.clear();
  std::jthread waiting;
  must(store->read(session_id("s"), {}, [&](const Message&) {
    std::promise<pid_t> thread;
    waiting = std::jthread([&] {
      thread.set_value(gettid());
      must(store->find(session_id("s")));
    });
    wait_until_asleep(thread.get_future().get());
    return Flow::stop;
  }));
  waiting.join();
  const StoreCounts counts = statistics.counts();
  EXPECT_EQ(counts.connection_waits.count, 1);
  // The thread was checked three times, 10 ms apart.
  EXPECT_GE(counts.connection_waits.total, milliseconds(20));
  EXPECT_EQ(counts.connections.count, 1);
  EXPECT_THAT(slow, testing::Contains("find: connection wait"));
}

TEST_F(PostgresPool, TenantsShareItsConnectionsAndNothingElse) {
  auto store = open(2);
  Tenants& tenants = *store->capabilities().tenants;
  constexpr int kTenants = 1'000;
  std::vector<std::unique_ptr<Store>> views;
  for (int i = 0; i < kTenants; ++i) {
    views.push_back(must(tenants.of(cat(tenant_, "-", i))));
  }
  must(views[0]->create(session("s")));
  must(views[0]->append(session_id("s"), messages(2), {}));
  EXPECT_EQ(must(views[1]->find(session_id("s"))), std::nullopt);
  EXPECT_EQ(must(store->find(session_id("s"))), std::nullopt);
  for (const auto& view : {std::cref(views.front()), std::cref(views.back())}) {
    must(view.get()->list({}));
  }
  EXPECT_EQ(count_connections(), 1);
  store.reset();  // the views outlive it
  EXPECT_EQ(must(read_all(*views[0], session_id("s"))).size(), 2U);
  const auto again = must(open_store(postgres_url(cat(tenant_, "-0"))));
  EXPECT_EQ(must(read_all(*again, session_id("s"))).size(), 2U);
}

TEST_F(PostgresPool, InvalidTenantsAreRefused) {
  const auto store = open(1);
  for (const std::string_view name : {"", "/x", "a b", "-a"}) {
    EXPECT_TRUE(fails(store->capabilities().tenants->of(name), Code::invalid_argument)) << name;
  }
  StoreOptions none;
  none.connections_max = 0;
  EXPECT_TRUE(fails(open_store(postgres_url(tenant_), none), Code::invalid_argument));
}

// Tables in which reading a session takes half a minute.
class PostgresAbandoned : public testing::Test {
 protected:
  PostgresAbandoned() {
    must(must(open_store(url_))->create(session("s")));
    run(url_, "ALTER TABLE reprise_sessions RENAME TO slow");
    run(url_, "CREATE VIEW reprise_sessions AS SELECT * FROM slow WHERE pg_sleep(30)::text = ''");
  }
  int count_running() const {
    return std::stoi(query(url_,
                           "SELECT count(*) FROM pg_stat_activity WHERE state = 'active'"
                           " AND datname = current_database() AND pid <> pg_backend_pid()"
                           " AND query LIKE '%reprise_%'"));
  }
  // Whether the number is reached within ten seconds.
  bool becomes(int running) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (count_running() != running) {
      if (std::chrono::steady_clock::now() > end) {
        return false;
      }
      std::this_thread::sleep_for(milliseconds(20));
    }
    return true;
  }

  const std::string url_ = new_database();
};

TEST_F(PostgresAbandoned, CancelledStatementsEndOnTheServer) {
  StoreOptions options;
  options.busy_timeout = milliseconds(1'500);
  const auto store = must(open_store(url_, options));
  EXPECT_TRUE(fails(store->list({}), Code::timeout));
  EXPECT_TRUE(becomes(0)) << count_running();
}

TEST_F(PostgresAbandoned, StatementsOfAKilledClientEndOnTheServer) {
  const pid_t child = in_child([this] {
    StoreOptions options;
    options.busy_timeout = std::chrono::minutes(2);
    return must(open_store(url_, options))->list({}) ? 0 : 1;
  });
  EXPECT_TRUE(becomes(1));
  ::kill(child, SIGKILL);
  EXPECT_EQ(exit_code_of(child), 128 + SIGKILL);
  EXPECT_TRUE(becomes(0));
}

}  // namespace
}  // namespace reprise::test
