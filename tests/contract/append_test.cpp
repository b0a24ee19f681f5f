// append(): order, compare-and-set, idempotent operations, usage.

#include <gtest/gtest.h>

#include "contract/store_contract.h"
#include "reprise/store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

TEST_P(StoreContract, MessagesGetSeqsFromZeroWithoutGaps) {
  REPRISE_NEEDS(capabilities().messages);
  const SessionId id = create("s");
  std::vector<Message> all;
  for (int batch = 1; batch <= 5; ++batch) {
    std::vector<Message> some = messages(batch, "batch " + std::to_string(batch));
    for (Message& message : some) {
      message.seq = {99};  // assigned by the store
    }
    const AppendResult appended = append(id, some);
    EXPECT_EQ(appended.first.value, static_cast<std::int64_t>(all.size()));
    all.insert(all.end(), some.begin(), some.end());
    EXPECT_EQ(appended.head.value, static_cast<std::int64_t>(all.size()));
    EXPECT_FALSE(appended.repeated);
  }
  EXPECT_EQ(stored(id), numbered(all));
  EXPECT_EQ(found(id).info.head, Seq{15});
  reopen();
  EXPECT_EQ(append(id, messages(1)).first, Seq{15});
  all.push_back(messages(1).front());
  EXPECT_EQ(stored(id), numbered(all));
}

TEST_P(StoreContract, SessionsHaveTheirOwnSeqs) {
  REPRISE_NEEDS(capabilities().messages && capabilities().many_sessions);
  const SessionId one = create("one", messages(3, "one"));
  const SessionId two = create("two", messages(1, "two"));
  EXPECT_EQ(append(two, messages(1, "more")).first, Seq{1});
  EXPECT_EQ(texts(stored(one)), (std::vector<std::string>{"one 0", "one 1", "one 2"}));
  EXPECT_EQ(texts(stored(two)), (std::vector<std::string>{"two 0", "more 0"}));
}

TEST_P(StoreContract, AnAppendChangesOnlyHeadAndActivity) {
  REPRISE_NEEDS(capabilities().messages);
  const Session whole = holdable(full_session("whole"));
  create(whole);
  Session expected = whole;
  append(whole.info.id, {user("a", at(50)), user("b", at(40, 5))});
  expected.info.head = {2};
  expected.info.updated_at = at(40, 5);  // that of the last message, even if it is older
  EXPECT_EQ(found(whole.info.id), expected);
  reopen();
  EXPECT_EQ(found(whole.info.id), expected);
}

TEST_P(StoreContract, AnEmptyBatchChangesNothing) {
  REPRISE_NEEDS(capabilities().messages);
  const SessionId id = create("s", messages(2));
  const Session before = found(id);
  const AppendResult appended = append(id, {});
  EXPECT_EQ(appended.first, Seq{2});
  EXPECT_EQ(appended.head, Seq{2});
  EXPECT_EQ(found(id), before);
}

TEST_P(StoreContract, BothDurabilitiesSurviveReopening) {
  REPRISE_NEEDS(capabilities().messages);
  const SessionId id = create("s");
  append(id, messages(1, "disk"), {.durability = Durability::disk});
  append(id, messages(1, "os"), {.durability = Durability::os});
  reopen();
  EXPECT_EQ(texts(stored(id)), (std::vector<std::string>{"disk 0", "os 0"}));
}

// Equal messages are not duplicates: only an operation's id makes an append idempotent.
TEST_P(StoreContract, EqualMessagesAreAllStored) {
  REPRISE_NEEDS(capabilities().messages);
  const SessionId id = create("s");
  const Message yes = user("yes", at(1));
  append(id, {yes});
  EXPECT_FALSE(append(id, {yes}).repeated);
  EXPECT_EQ(append(id, {yes, yes}).head, Seq{4});
  reopen();
  EXPECT_EQ(stored(id), numbered({yes, yes, yes, yes}));
}

TEST_P(StoreContract, AnUnexpectedHeadIsAConflictAndChangesNothing) {
  REPRISE_NEEDS(capabilities().messages);
  const SessionId id = create("s");
  EXPECT_EQ(append(id, messages(2), {.expected_head = Seq{0}}).head, Seq{2});
  EXPECT_EQ(append(id, messages(2), {.expected_head = Seq{2}}).head, Seq{4});
  const Session before = found(id);
  for (const Seq wrong : {Seq{0}, Seq{3}, Seq{5}, Seq{-1}, kSeqEnd}) {
    EXPECT_TRUE(fails(store().append(id, messages(1), {.expected_head = wrong}), Code::conflict));
    EXPECT_TRUE(fails(store().append(id, {}, {.expected_head = wrong}), Code::conflict));
  }
  EXPECT_EQ(found(id), before);
  EXPECT_EQ(stored(id).size(), 4U);
}

TEST_P(StoreContract, AnOperationHappensOnce) {
  REPRISE_NEEDS(capabilities().messages);
  const SessionId id = create("s", messages(1));
  const AppendOptions options{.expected_head = Seq{1}, .operation = operation_id("op-1")};
  const AppendResult first = append(id, messages(2, "mine"), options);
  EXPECT_EQ(first.first, Seq{1});
  EXPECT_EQ(first.head, Seq{3});
  EXPECT_FALSE(first.repeated);
  append(id, messages(1, "others"));
  const Session before = found(id);
  for (int time = 0; time < 3; ++time) {
    // The head has moved: a retry is recognised before the head is checked, even with other
    // messages.
    const AppendResult again = append(id, messages(1 + time, "other words"), options);
    EXPECT_EQ(again.first, Seq{1});
    EXPECT_EQ(again.head, Seq{3});
    EXPECT_TRUE(again.repeated);
    EXPECT_EQ(found(id), before);
    reopen();
  }
  EXPECT_EQ(stored(id).size(), 4U);
}

TEST_P(StoreContract, ARefusedOperationCanBeRetried) {
  REPRISE_NEEDS(capabilities().messages);
  const SessionId id = create("s", messages(1));
  const OperationId operation = operation_id("op");
  EXPECT_TRUE(
      fails(store().append(id, messages(1), {.expected_head = Seq{0}, .operation = operation}),
            Code::conflict));
  const AppendResult second =
      append(id, messages(1), {.expected_head = Seq{1}, .operation = operation});
  EXPECT_FALSE(second.repeated);
  EXPECT_EQ(second.first, Seq{1});
}

TEST_P(StoreContract, AnOperationWithoutMessagesHappensOnceToo) {
  REPRISE_NEEDS(capabilities().messages);
  const SessionId id = create("s", messages(1));
  EXPECT_FALSE(append(id, {}, {.operation = operation_id("op")}).repeated);
  reopen();
  const AppendResult again = append(id, messages(2), {.operation = operation_id("op")});
  EXPECT_TRUE(again.repeated);
  EXPECT_EQ(again.head, Seq{1});
}

TEST_P(StoreContract, OperationIdsAreLocalToTheirSession) {
  REPRISE_NEEDS(capabilities().messages && capabilities().many_sessions);
  const SessionId one = create("one");
  const SessionId two = create("two");
  EXPECT_FALSE(append(one, messages(1), {.operation = operation_id("op")}).repeated);
  EXPECT_FALSE(append(two, messages(1), {.operation = operation_id("op")}).repeated);
  EXPECT_FALSE(append(two, messages(1), {.operation = operation_id("OP")}).repeated);
}

Message with_usage(Usage usage) {
  Message message = assistant("answer");
  message.usage = std::move(usage);
  return message;
}

TEST_P(StoreContract, UsageIsSummedOncePerRequest) {
  REPRISE_NEEDS(capabilities().messages && capabilities().message_details);
  const SessionId id = create("s");
  Usage first = usage("req-1", 100, 10);
  first.reasoning = {7};
  first.cached = {50};
  first.cache_written = {30};
  first.cost = Money{1'500};
  first.price_source = "config";
  first.extra = {{"tier", raw("1.0")}};
  Usage expected = first;
  expected.request_id = "";
  expected.extra.clear();

  append(id, {user("q"), with_usage(first)});
  EXPECT_EQ(found(id).usage, expected);
  append(id, {with_usage(first)});
  EXPECT_EQ(found(id).usage, expected) << "the same request again";
  reopen();
  append(id, {with_usage(usage("req-1", 1, 1)), with_usage(first)});
  EXPECT_EQ(found(id).usage, expected) << "and with other numbers";

  append(id, {with_usage(usage("req-2", 1, 2)), with_usage(usage("req-2", 1, 2)),
              with_usage(usage("req-3", 1'000'000'000'000, 0))});
  expected.input = {1'000'000'000'101};
  expected.output = {12};
  EXPECT_EQ(found(id).usage, expected);
  reopen();
  EXPECT_EQ(found(id).usage, expected);
  Usage written = usage("req-4", 0, 0);
  written.cache_written = {12};
  append(id, {with_usage(written), with_usage(written)});
  append(id, {with_usage(written)});
  expected.cache_written = {42};
  EXPECT_EQ(found(id).usage, expected);
}

TEST_P(StoreContract, UsageWithoutARequestIdIsCountedEachTime) {
  REPRISE_NEEDS(capabilities().messages && capabilities().message_details);
  const SessionId id = create("s");
  append(id, {with_usage(usage("", 5, 1)), with_usage(usage("", 5, 1))});
  append(id, {with_usage(usage("", 5, 1))});
  EXPECT_EQ(found(id).usage, usage("", 15, 3));
}

TEST_P(StoreContract, CostsAreExact) {
  REPRISE_NEEDS(capabilities().messages && capabilities().message_details);
  const SessionId id = create("s");
  const auto priced = [](std::optional<Money> cost, const char* source) {
    Usage one = usage("", 1, 1);
    one.cost = cost;
    one.price_source = source;
    return with_usage(one);
  };
  append(id, {priced(std::nullopt, "")});
  EXPECT_EQ(found(id).usage.cost, std::nullopt);
  append(id, {priced(Money{0}, "config")});
  EXPECT_EQ(found(id).usage.cost, Money{0}) << "free is not the same as unknown";
  append(id, {priced(Money{100'000'001}, "config"), priced(Money{200'000'002}, "config")});
  EXPECT_EQ(found(id).usage.cost, Money{300'000'003});
  EXPECT_EQ(found(id).usage.price_source, "config");
  append(id, {priced(Money{1}, "provider")});
  EXPECT_EQ(found(id).usage.cost, Money{300'000'004});
  EXPECT_EQ(found(id).usage.price_source, "mixed");
}

TEST_P(StoreContract, ARepeatedOperationIsNotCountedAgain) {
  REPRISE_NEEDS(capabilities().messages && capabilities().message_details);
  const SessionId id = create("s");
  for (int time = 0; time < 2; ++time) {
    append(id, {with_usage(usage("", 5, 1))}, {.operation = operation_id("op")});
  }
  EXPECT_EQ(found(id).usage, usage("", 5, 1));
}

TEST_P(StoreContract, UsageIsCountedPerSession) {
  REPRISE_NEEDS(capabilities().messages && capabilities().message_details &&
                capabilities().many_sessions);
  const SessionId one = create("one", {with_usage(usage("req", 5, 1))});
  const SessionId two = create("two", {with_usage(usage("req", 5, 1))});
  EXPECT_EQ(found(one).usage, usage("", 5, 1));
  EXPECT_EQ(found(two).usage, usage("", 5, 1));
}

TEST_P(StoreContract, MessagesWithoutATimeAreNotActivityOf1970) {
  REPRISE_NEEDS(capabilities().messages);
  const SessionId id = create("s", {user("known", at(50))});
  append(id, {assistant("unknown", Time())});
  EXPECT_EQ(found(id).info.updated_at, at(50));
  append(id, {user("known", at(60)), assistant("unknown", Time())});
  EXPECT_EQ(found(id).info.updated_at, at(60)) << "the last one that is known";
  reopen();
  EXPECT_EQ(found(id).info.updated_at, at(60));
  EXPECT_EQ(stored(id).back().created_at, Time());
}

}  // namespace
}  // namespace reprise::test
