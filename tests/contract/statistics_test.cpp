// Every store counts its calls.

#include <gmock/gmock.h>

#include "contract/store_contract.h"

namespace reprise::test {
namespace {

TEST_P(StoreContract, CountsItsCalls) {
  StoreStatistics statistics;
  std::vector<std::string> slow;
  StoreOptions options;
  options.statistics = &statistics;
  options.slow_call = std::chrono::milliseconds(0);
  options.on_slow_call = [&slow](const SlowCall& call) { slow.emplace_back(call.call); };
  const auto store = open(options);
  const SessionId id = session_id("s");
  must(store->create(holdable(session("s"))));
  must(store->append(id, appendable(messages(2)), {}));
  must(read_all(*store, id));
  must(store->list({}));
  EXPECT_FALSE(store->append(session_id("nobody"), appendable(messages(1)), {}));
  const StoreCounts counts = statistics.counts();
  EXPECT_EQ(counts.calls.at("create").count, 1);
  EXPECT_EQ(counts.calls.at("append").count, 2);
  EXPECT_EQ(counts.calls.at("read").count, 1);
  EXPECT_EQ(counts.calls.at("list").count, 1);
  EXPECT_GE(counts.calls.at("append").total, counts.calls.at("append").longest);
  EXPECT_THAT(slow, testing::IsSupersetOf({"create", "append", "read", "list"}));
  EXPECT_EQ(counts.retries + counts.unknown_outcomes + counts.spilled_turns, 0);
  const auto waited_for = counts.locks.count + counts.round_trips.count;
  EXPECT_EQ(waited_for > 0, GetParam().name != "memory");
}

}  // namespace
}  // namespace reprise::test
