#include "engine/lease.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "engine/testing/messages.h"
#include "engine/turn_queue.h"
#include "reprise/open_store.h"

namespace reprise {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

// The answer of a process on another host, whose lease of this length has expired.
Partial expired(std::chrono::milliseconds length) {
  Owner owner{.host = "elsewhere", .pid = 1, .lease = new_lease(length)};
  owner.lease.renewed_at -= 3 * length;
  return {.answer = *OperationId::parse("answer"),
          .owner = owner,
          .provider = "fake",
          .model = "m",
          .started_at = owner.lease.renewed_at,
          .blocks = {text_of("half")}};
}

TEST(OwnerWatch, ASilentOwnerIsNotGoneBeforeTheGracePeriod) {
  OwnerWatch watch;
  const Partial running = expired(1h);  // a grace period of a quarter of an hour
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(watch.observe(running), OwnerState::silent);
  }
}

TEST(OwnerWatch, ASilentOwnerIsGoneAfterTheGracePeriod) {
  OwnerWatch watch;
  const Partial running = expired(80ms);
  const auto start = steady_clock::now();
  while (watch.observe(running) == OwnerState::silent) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(watch.observe(running), OwnerState::gone);
  EXPECT_GE(steady_clock::now() - start, grace_period_for(running.owner.lease));
}

// A renewal, or a piece of its answer, shows that its process is alive, whatever the clocks say.
TEST(OwnerWatch, ASilentOwnerThatGoesOnIsAlive) {
  for (const bool renews : {true, false}) {
    OwnerWatch watch;
    Partial running = expired(1h);
    EXPECT_EQ(watch.observe(running), OwnerState::silent);
    if (renews) {
      running.owner.lease.renewed_at += 1s;
    } else {
      running.blocks = {text_of("half and more")};
    }
    EXPECT_EQ(watch.observe(running), OwnerState::alive);
    running.answer = *OperationId::parse("another");
    EXPECT_EQ(watch.observe(running), OwnerState::silent) << "of which nothing is known yet";
  }
}

class TurnPlaceTest : public testing::Test {
 protected:
  std::optional<TurnPlace> wait(std::string_view session, steady_clock::time_point deadline,
                                const std::stop_token& stop = {}) {
    return TurnPlace::wait(*store_, *SessionId::parse(session), deadline, stop);
  }

  std::unique_ptr<Store> store_ = open_memory_store();
};

TEST_F(TurnPlaceTest, OneTurnRunsInASession) {
  const auto past = steady_clock::now();
  auto place = wait("a", past);
  EXPECT_TRUE(place);
  EXPECT_FALSE(wait("a", past));
  EXPECT_TRUE(wait("b", past)) << "another session";
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(wait("a", past + 1h, stop.get_token()));
  place.reset();
  EXPECT_TRUE(wait("a", past));
}

TEST_F(TurnPlaceTest, TheNextOneGetsThePlace) {
  auto place = wait("a", steady_clock::now());
  std::atomic<bool> has_place = false;
  std::jthread next([&] {
    const auto waited = wait("a", steady_clock::now() + 1h);
    has_place = waited.has_value();
  });
  EXPECT_FALSE(has_place);
  place.reset();
  next.join();
  EXPECT_TRUE(has_place);
}

}  // namespace
}  // namespace reprise
