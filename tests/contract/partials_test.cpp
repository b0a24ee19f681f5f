// Partials: running answers.

#include <gtest/gtest.h>

#include "contract/store_contract.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

using namespace std::chrono_literals;

using Blocks = std::vector<Block>;

PartialStart start(const char* answer) {
  const Lease lease{.renewed_at = at(7, 8), .uptime = std::chrono::seconds(90), .length = 30s};
  return {operation_id(answer),
          {"host/boot", 17, 4711, 4026531836, lease},
          "anthropic",
          "some-model",
          at(7, 8)};
}

testing::AssertionResult is_running(const std::optional<Partial>& partial, const char* answer) {
  const PartialStart expected = start(answer);
  if (partial && partial->answer == expected.answer && partial->owner == expected.owner &&
      partial->provider == expected.provider && partial->model == expected.model &&
      partial->started_at == expected.started_at) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << (partial ? partial->answer.str() : "no answer");
}

TEST_P(StoreContract, AnAnswerRunsFromItsBeginningToItsEnd) {
  REPRISE_NEEDS(capabilities().partials);
  const SessionId id = create("s");
  EXPECT_FALSE(must(capabilities().partials->find_partial(id)));
  append(id, messages(1), {.begin_partial = start("a")});
  reopen();
  EXPECT_TRUE(is_running(must(capabilities().partials->find_partial(id)), "a"));
  EXPECT_EQ(must(capabilities().partials->find_partial(id))->blocks, Blocks{});
  EXPECT_EQ(found(id).info.answering, start("a").owner);
  append(id, {assistant("answer")}, {.end_partial = operation_id("a")});
  EXPECT_FALSE(must(capabilities().partials->find_partial(id)));
  EXPECT_EQ(found(id).info.answering, std::nullopt);
  reopen();
  EXPECT_FALSE(must(capabilities().partials->find_partial(id)));
  EXPECT_EQ(stored(id).size(), 2U);
}

TEST_P(StoreContract, ALeaseIsRenewedAndSeenByAll) {
  REPRISE_NEEDS(capabilities().partials);
  const SessionId id = create("s");
  append(id, messages(1), {.begin_partial = start("a")});
  Partials& partials = *capabilities().partials;
  const Blocks first = {TextBlock{"one ", {}}};
  const Blocks second = {TextBlock{"two", {}}};
  ASSERT_TRUE(partials.add_partial(id, operation_id("a"), first));
  PartialStart renewed = start("a");
  for (const int seconds : {3, 6}) {
    renewed.owner.lease.renewed_at = at(7, 8) + std::chrono::seconds(seconds);
    renewed.owner.lease.uptime += 3s;
    ASSERT_TRUE(partials.renew_lease(id, operation_id("a"), renewed.owner.lease));
  }
  ASSERT_TRUE(partials.add_partial(id, operation_id("a"), second));
  reopen();
  const auto running = must(capabilities().partials->find_partial(id));
  ASSERT_TRUE(running);
  EXPECT_EQ(running->owner, renewed.owner);
  const Blocks both = {TextBlock{"one two", {}}};
  EXPECT_EQ(running->blocks, both);
  EXPECT_EQ(found(id).info.answering, renewed.owner);
  EXPECT_EQ(listed({.answering_only = true}).front().answering, renewed.owner);
  EXPECT_EQ(capabilities().partials->renew_lease(id, operation_id("b"), {}).error().code,
            Code::conflict);
  append(id, {}, {.end_partial = operation_id("a"), .begin_partial = start("b")});
  EXPECT_EQ(found(id).info.answering, start("b").owner);
  append(id, {}, {.end_partial = operation_id("b")});
  EXPECT_EQ(capabilities().partials->renew_lease(id, operation_id("b"), {}).error().code,
            Code::conflict);
  EXPECT_EQ(
      capabilities().partials->renew_lease(session_id("none"), operation_id("b"), {}).error().code,
      Code::not_found);
}

// It was started by a version without leases: only its start time is known.
TEST_P(StoreContract, AnAnswerWithoutALeaseIsReadAsOneThatWasNeverRenewed) {
  REPRISE_NEEDS(capabilities().partials);
  const SessionId id = create("s");
  PartialStart old = start("a");
  old.owner.pid_namespace = 0;
  old.owner.lease = {.renewed_at = old.started_at, .uptime = {}, .length = {}};
  append(id, messages(1), {.begin_partial = old});
  reopen();
  EXPECT_EQ(must(capabilities().partials->find_partial(id))->owner, old.owner);
}

TEST_P(StoreContract, AnEmptyBatchBeginsAndEndsAnAnswer) {
  REPRISE_NEEDS(capabilities().partials);
  const SessionId id = create("s", messages(1));
  const Session before = found(id);
  append(id, {}, {.begin_partial = start("a")});
  EXPECT_TRUE(is_running(must(capabilities().partials->find_partial(id)), "a"));
  append(id, {}, {.end_partial = operation_id("a")});
  EXPECT_EQ(found(id), before);
}

TEST_P(StoreContract, OneAnswerRunsAtATime) {
  REPRISE_NEEDS(capabilities().partials);
  const SessionId id = create("s");
  append(id, {}, {.begin_partial = start("a")});
  EXPECT_TRUE(fails(store().append(id, messages(1), {.begin_partial = start("b")}), Code::busy));
  EXPECT_TRUE(fails(store().append(id, messages(1), {.begin_partial = start("a")}), Code::busy));
  EXPECT_EQ(found(id).info.head, Seq{0});
  EXPECT_TRUE(is_running(must(capabilities().partials->find_partial(id)), "a"));
  EXPECT_EQ(append(id, messages(1)).head, Seq{1}) << "messages may come in between";
  EXPECT_TRUE(is_running(must(capabilities().partials->find_partial(id)), "a"));
}

TEST_P(StoreContract, OneAppendEndsAnAnswerAndBeginsTheNext) {
  REPRISE_NEEDS(capabilities().partials);
  const SessionId id = create("s");
  append(id, messages(1), {.begin_partial = start("a")});
  must(capabilities().partials->add_partial(id, operation_id("a"), Blocks{TextBlock{"of a", {}}}));
  append(id, messages(1), {.end_partial = operation_id("a"), .begin_partial = start("b")});
  reopen();
  EXPECT_TRUE(is_running(must(capabilities().partials->find_partial(id)), "b"));
  EXPECT_EQ(must(capabilities().partials->find_partial(id))->blocks, Blocks{});
}

TEST_P(StoreContract, OnlyTheRunningAnswerEnds) {
  REPRISE_NEEDS(capabilities().partials);
  const SessionId id = create("s");
  const AppendOptions end_a{.end_partial = operation_id("a")};
  EXPECT_TRUE(fails(store().append(id, messages(1), end_a), Code::conflict));
  append(id, {}, {.begin_partial = start("b")});
  EXPECT_TRUE(fails(store().append(id, messages(1), end_a), Code::conflict));
  EXPECT_TRUE(
      fails(store().append(id, {}, {.end_partial = operation_id("a"), .begin_partial = start("c")}),
            Code::conflict));
  EXPECT_EQ(found(id).info.head, Seq{0});
  EXPECT_TRUE(is_running(must(capabilities().partials->find_partial(id)), "b"));
}

TEST_P(StoreContract, ARepeatedOperationNeitherBeginsNorEnds) {
  REPRISE_NEEDS(capabilities().partials);
  const SessionId id = create("s");
  const AppendOptions begin{.operation = operation_id("op-1"), .begin_partial = start("a")};
  append(id, messages(1), begin);
  EXPECT_TRUE(append(id, messages(1), begin).repeated) << "not busy";
  const AppendOptions end{.operation = operation_id("op-2"), .end_partial = operation_id("a")};
  append(id, messages(1), end);
  EXPECT_TRUE(append(id, messages(1), end).repeated) << "no conflict";
  EXPECT_TRUE(append(id, messages(1), begin).repeated);
  EXPECT_FALSE(must(capabilities().partials->find_partial(id)));
  EXPECT_EQ(found(id).info.head, Seq{2});
}

TEST_P(StoreContract, AnswersOfUnknownSessionsAreNotFound) {
  REPRISE_NEEDS(capabilities().partials);
  const SessionId nobody = session_id("nobody");
  EXPECT_TRUE(fails(capabilities().partials->find_partial(nobody), Code::not_found));
  EXPECT_TRUE(
      fails(capabilities().partials->add_partial(nobody, operation_id("a"), Blocks{TextBlock{}}),
            Code::not_found));
}

TEST_P(StoreContract, DeltasAreJoined) {
  REPRISE_NEEDS(capabilities().partials);
  const SessionId id = create("s");
  append(id, messages(1), {.begin_partial = start("a")});
  const auto add = [&](const Blocks& delta) {
    ASSERT_TRUE(works(capabilities().partials->add_partial(id, operation_id("a"), delta)));
  };
  add({ThinkingBlock{"I th", "", {}}});
  add({ThinkingBlock{"ink.", "c2", {}}});
  add({ThinkingBlock{"", "ln", {}}});
  add({});
  add({TextBlock{"Hel", {}}});
  reopen();
  add({TextBlock{"lo ", {}}});
  add({TextBlock{"\U0001F41F", {}}, ToolUseBlock{"t1", "read", RawJson::string("{\"pa"), {}}});
  add({ToolUseBlock{"t1", "read", RawJson::string("th\":1.0"), {}}});
  reopen();
  add({ToolUseBlock{"t1", "", RawJson::string("}"), {}},
       ToolUseBlock{"t2", "list", RawJson::string(""), {}}});
  add({ToolUseBlock{"t2", "list", RawJson::string("{}"), {}}});
  add({TextBlock{"after", {}}});
  const Blocks expected = {
      ThinkingBlock{"I think.", "c2ln", {}},
      TextBlock{"Hello \U0001F41F", {}},
      ToolUseBlock{"t1", "read", RawJson::string("{\"path\":1.0}"), {}},
      ToolUseBlock{"t2", "list", RawJson::string("{}"), {}},
      TextBlock{"after", {}},
  };
  EXPECT_EQ(must(capabilities().partials->find_partial(id))->blocks, expected);
  reopen();
  EXPECT_EQ(must(capabilities().partials->find_partial(id))->blocks, expected);
}

TEST_P(StoreContract, HardTextsRoundTripInRunningAnswers) {
  REPRISE_NEEDS(capabilities().partials);
  const SessionId id = create("s");
  append(id, {}, {.begin_partial = start("a")});
  std::string whole;
  for (const std::string& text : hard_texts()) {
    must(capabilities().partials->add_partial(id, operation_id("a"), Blocks{TextBlock{text, {}}}));
    whole += text;
  }
  must(capabilities().partials->add_partial(id, operation_id("a"), full_message().blocks));
  Blocks expected = full_message().blocks;
  std::get<TextBlock>(expected.front()).text.insert(0, whole);
  reopen();
  EXPECT_EQ(must(capabilities().partials->find_partial(id))->blocks, expected);
}

TEST_P(StoreContract, DeltasNeedARunningAnswer) {
  REPRISE_NEEDS(capabilities().partials);
  const SessionId id = create("s");
  const Blocks delta = {TextBlock{"late", {}}};
  const auto add = [&](const char* answer) {
    return capabilities().partials->add_partial(id, operation_id(answer), delta);
  };
  EXPECT_TRUE(fails(add("a"), Code::conflict));
  append(id, {}, {.begin_partial = start("b")});
  EXPECT_TRUE(fails(add("a"), Code::conflict));
  EXPECT_EQ(must(capabilities().partials->find_partial(id))->blocks, Blocks{});
  append(id, {}, {.end_partial = operation_id("b")});
  EXPECT_TRUE(fails(add("b"), Code::conflict));
  EXPECT_EQ(stored(id).size(), 0U);
}

TEST_P(StoreContract, AnAnswerIsNotActivityUntilItEnds) {
  REPRISE_NEEDS(capabilities().partials);
  const SessionId id = create("s", messages(1));
  const SessionInfo before = found(id).info;
  append(id, {}, {.begin_partial = start("a")});
  must(capabilities().partials->add_partial(id, operation_id("a"), Blocks{TextBlock{"x", {}}}));
  EXPECT_EQ(found(id).info.updated_at, before.updated_at);
  EXPECT_EQ(found(id).info.head, before.head);
  EXPECT_EQ(stored(id).size(), 1U) << "what is running is no message yet";
}

TEST_P(StoreContract, AnAnswerMayEndWithAReplacement) {
  REPRISE_NEEDS(capabilities().partials && capabilities().rewriting);
  const SessionId id = create("s", messages(2));
  must(capabilities().rewriting->replace_suffix(id, {1}, {}, {.begin_partial = start("a")}));
  EXPECT_TRUE(
      fails(capabilities().rewriting->replace_suffix(id, {0}, {}, {.begin_partial = start("b")}),
            Code::busy));
  EXPECT_TRUE(is_running(must(capabilities().partials->find_partial(id)), "a"));
  must(capabilities().rewriting->replace_suffix(id, {1}, messages(1, "new"),
                                                {.end_partial = operation_id("a")}));
  EXPECT_FALSE(must(capabilities().partials->find_partial(id)));
  EXPECT_EQ(texts(stored(id)), (std::vector<std::string>{"message 0", "new 0"}));
}

}  // namespace
}  // namespace reprise::test
