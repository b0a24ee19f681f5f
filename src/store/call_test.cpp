#include "store/call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace reprise {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::steady_clock;

class WatchedStore : public testing::Test {
 protected:
  void open(std::chrono::milliseconds slow_call) {
    StoreOptions options;
    options.statistics = &statistics_;
    options.slow_call = slow_call;
    options.on_slow_call = [this](const SlowCall& call) {
      slow_.emplace_back(call.call);
      EXPECT_GE(call.time, call.part_time);
    };
    store_ = open_memory_store(options);
    ASSERT_TRUE(store_->create({.info = {.id = id_}}));
    ASSERT_TRUE(store_->append(id_, std::vector<Message>(3, Message{.role = "user"}), {}));
  }

  const SessionId id_ = *SessionId::parse("s");
  StoreStatistics statistics_;
  std::vector<std::string> slow_;
  std::unique_ptr<Store> store_;
};

TEST_F(WatchedStore, ReportsCallsAtOrAboveTheLimit) {
  open(std::chrono::hours(1));
  EXPECT_THAT(slow_, testing::IsEmpty());
  open(std::chrono::milliseconds(0));
  EXPECT_THAT(slow_, testing::ElementsAre("create", "append"));
}

TEST_F(WatchedStore, PropagatesExceptionsOfTheObserver) {
  StoreOptions options;
  options.statistics = &statistics_;
  options.slow_call = std::chrono::milliseconds(0);
  options.on_slow_call = [](const SlowCall& /*call*/) { throw 42; };
  store_ = open_memory_store(options);
  EXPECT_THROW((void)store_->create({.info = {.id = id_}}), int);
  EXPECT_FALSE(store::Call::is_watched());
  EXPECT_EQ(statistics_.counts().calls.at("create").count, 1);
  EXPECT_THROW((void)store_->find(id_), int);
}

TEST_F(WatchedStore, CountsACallThatAnExceptionEnds) {
  open(std::chrono::milliseconds(0));
  EXPECT_THROW((void)store_->read(id_, {}, [](Message&& /*message*/) -> Flow { throw 42; }), int);
  EXPECT_FALSE(store::Call::is_watched());
  EXPECT_EQ(statistics_.counts().calls.at("read").count, 1);
}

TEST_F(WatchedStore, DoesNotCountTheTimeOfSinks) {
  open(std::chrono::hours(1));
  steady_clock::duration in_sink{0};
  const auto start = steady_clock::now();
  ASSERT_TRUE(store_->read(id_, {}, [&](Message&& /*message*/) {
    const auto entered = steady_clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_TRUE(store_->find(id_));
    in_sink += steady_clock::now() - entered;
    return Flow::proceed;
  }));
  const auto all = steady_clock::now() - start;
  const StoreCounts counts = statistics_.counts();
  EXPECT_EQ(counts.calls.at("find").count, 3);
  EXPECT_EQ(counts.calls.at("read").count, 1);
  EXPECT_LE(counts.calls.at("read").total, duration_cast<microseconds>(all - in_sink));
}

TEST_F(WatchedStore, CountsTheCallsOfAllThreads) {
  open(std::chrono::hours(1));
  constexpr int kThreads = 4;
  constexpr int kFinds = 250;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([this] {
        for (int k = 0; k < kFinds; ++k) {
          EXPECT_TRUE(store_->find(id_));
        }
      });
    }
  }
  EXPECT_EQ(statistics_.counts().calls.at("find").count, kThreads * kFinds);
}

TEST(StoreCounts, AreAnObjectInJson) {
  StoreCounts counts;
  counts.calls["append"] = {2, microseconds(30), microseconds(20)};
  counts.locks = {3, microseconds(31), microseconds(21)};
  counts.connection_waits = {4, microseconds(32), microseconds(22)};
  counts.connections = {5, microseconds(33), microseconds(23)};
  counts.round_trips = {6, microseconds(34), microseconds(24)};
  counts.retries = 7;
  counts.unknown_outcomes = 8;
  counts.spilled_turns = 9;
  EXPECT_EQ(store_counts_to_json(counts),
            R"({"calls":{"append":{"count":2,"total_us":30,"longest_us":20}},)"
            R"("locks":{"count":3,"total_us":31,"longest_us":21},)"
            R"("connection_waits":{"count":4,"total_us":32,"longest_us":22},)"
            R"("connections":{"count":5,"total_us":33,"longest_us":23},)"
            R"("round_trips":{"count":6,"total_us":34,"longest_us":24},)"
            R"("retries":7,"unknown_outcomes":8,"spilled_turns":9})");
}

}  // namespace
}  // namespace reprise
