// read(): ranges, both directions, stopping.

#include <gtest/gtest.h>

#include "contract/store_contract.h"
#include "reprise/store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

std::vector<std::int64_t> seqs(const std::vector<Message>& messages) {
  std::vector<std::int64_t> all;
  all.reserve(messages.size());
  for (const Message& message : messages) {
    all.push_back(message.seq.value);
  }
  return all;
}

using Seqs = std::vector<std::int64_t>;

TEST_P(StoreContract, RangesAreReadInBothDirections) {
  REPRISE_NEEDS(capabilities().messages);
  const std::vector<Message> all = numbered(messages(10));
  const SessionId id = create("s", all);
  reopen();
  for (std::int64_t from = -1; from <= 11; ++from) {
    for (std::int64_t to = -1; to <= 11; ++to) {
      std::vector<Message> expected;
      for (const Message& message : all) {
        if (message.seq.value >= from && message.seq.value < to) {
          expected.push_back(message);
        }
      }
      EXPECT_EQ(stored(id, {.from = {from}, .to = {to}}), expected) << from << " to " << to;
      const std::vector<Message> backwards(expected.rbegin(), expected.rend());
      EXPECT_EQ(stored(id, {.from = {from}, .to = {to}, .newest_first = true}), backwards)
          << from << " to " << to;
    }
  }
}

TEST_P(StoreContract, RangesMayExceedTheMessages) {
  REPRISE_NEEDS(capabilities().messages);
  const SessionId id = create("s", messages(3));
  EXPECT_EQ(seqs(stored(id, {.from = {1}})), (Seqs{1, 2}));
  EXPECT_EQ(seqs(stored(id, {.newest_first = true})), (Seqs{2, 1, 0}));
  EXPECT_EQ(seqs(stored(id, {.from = kSeqEnd})), Seqs{});
  EXPECT_EQ(seqs(stored(id, {.from = {INT64_MIN}, .to = kSeqEnd})), (Seqs{0, 1, 2}));
  EXPECT_EQ(seqs(stored(id, {.to = {INT64_MIN}})), Seqs{});
}

TEST_P(StoreContract, ASinkMayStop) {
  REPRISE_NEEDS(capabilities().messages);
  const SessionId id = create("s", messages(100));
  for (const bool backwards : {false, true}) {
    Seqs seen;
    const auto report = store().read(id, {.newest_first = backwards}, [&seen](Message&& message) {
      seen.push_back(message.seq.value);
      return seen.size() == 3 ? Flow::stop : Flow::proceed;
    });
    ASSERT_TRUE(works(report));
    EXPECT_EQ(seen, backwards ? (Seqs{99, 98, 97}) : (Seqs{0, 1, 2}));
    EXPECT_EQ(report->damaged, 0);
  }
  EXPECT_EQ(append(id, messages(1)).first, Seq{100}) << "nothing is left open";
}

TEST_P(StoreContract, TheSinkMayUseTheStore) {
  REPRISE_NEEDS(capabilities().messages);
  const SessionId id = create("s", messages(3));
  Seqs seen;
  must(store().read(id, {}, [&](Message&& message) {
    seen.push_back(message.seq.value);
    EXPECT_EQ(stored(id, {.to = {1}}).size(), 1U);
    append(id, {user("while reading")});
    return Flow::proceed;
  }));
  EXPECT_EQ(seen, (Seqs{0, 1, 2})) << "the messages that were there when reading began";
  EXPECT_EQ(found(id).info.head, Seq{6});
}

TEST_P(StoreContract, TwoReadersDoNotDisturbEachOther) {
  REPRISE_NEEDS(capabilities().messages);
  const std::vector<Message> all = numbered(messages(5));
  const SessionId id = create("s", all);
  std::vector<Message> outer;
  must(store().read(id, {}, [&](Message&& message) {
    outer.push_back(message);
    EXPECT_EQ(stored(id), all);
    return Flow::proceed;
  }));
  EXPECT_EQ(outer, all);
}

}  // namespace
}  // namespace reprise::test
