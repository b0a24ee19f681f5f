// Stores without text: they hold who answered, under which id, and when.

#include <gtest/gtest.h>

#include <thread>

#include "contract/store_contract.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

Message answered(std::string_view response_id, Time time = at(1)) {
  Message message;
  message.role = role::kAssistant;
  message.provider = "openai-responses";
  message.response_id = response_id;
  message.created_at = time;
  return message;
}

using Chain = std::vector<ResponseLink>;

TEST_P(StoreContract, AnAnswersIdIsStoredAndIsActivity) {
  REPRISE_NEEDS(!capabilities().messages);
  const SessionId id = create("s");
  Session expected = found(id);
  for (int number = 1; number <= 3; ++number) {
    const std::string response = "resp_" + std::to_string(number);
    const AppendResult appended = append(id, {answered(response, at(number, 17))});
    EXPECT_EQ(appended.head, Seq{0});
    expected.response_chain.push_back({"openai-responses", response});
    expected.info.updated_at = at(number, 17);
    EXPECT_EQ(found(id), expected);
    reopen();
    EXPECT_EQ(found(id), expected);
  }
  EXPECT_EQ(stored(id), std::vector<Message>{});
}

TEST_P(StoreContract, TextIsRefusedIfItCannotBeHeld) {
  REPRISE_NEEDS(!capabilities().messages);
  const SessionId id = create("s");
  Message with_words = answered("resp");
  with_words.blocks = {TextBlock{"hello", {}}};
  EXPECT_TRUE(fails(store().append(id, {answered("first"), with_words}, {}), Code::unsupported));
  EXPECT_EQ(found(id), session("s"));
}

TEST_P(StoreContract, AnIdIsInTheChainOnce) {
  REPRISE_NEEDS(!capabilities().messages);
  const SessionId id = create("s");
  append(id, {answered("a"), answered(""), answered("b")}, {.operation = operation_id("op")});
  const AppendResult again = append(id, {answered("c")}, {.operation = operation_id("op")});
  EXPECT_TRUE(again.repeated);
  EXPECT_EQ(again.head, Seq{0}) << "no message is there";
  reopen();
  EXPECT_TRUE(append(id, {answered("c")}, {.operation = operation_id("op")}).repeated);
  append(id, {answered("a"), answered("d")});
  EXPECT_EQ(
      found(id).response_chain,
      (Chain{{"openai-responses", "a"}, {"openai-responses", "b"}, {"openai-responses", "d"}}));
}

TEST_P(StoreContract, TheUsageOfAnswersWithoutTextIsCounted) {
  REPRISE_NEEDS(!capabilities().messages);
  const SessionId id = create("s");
  Message message = answered("a");
  message.usage = usage("", 5, 1);
  append(id, {message});
  append(id, {message});
  reopen();
  EXPECT_EQ(found(id).usage, usage("", 10, 2));
}

TEST_P(StoreContract, ASessionAppearsWithItsFirstResponse) {
  REPRISE_NEEDS(capabilities().responses);
  Session expected = session("s");
  expected.info.title = "a title";
  Message answer = answered("a", at(3));
  answer.blocks = {TextBlock{"left out", {}}};
  Responses& responses = *capabilities().responses;
  ASSERT_TRUE(works(responses.add_response(expected, answer, operation_id("first"))));
  expected.response_chain = {{"openai-responses", "a"}};
  expected.info.updated_at = at(3);
  EXPECT_EQ(found(expected.info.id), expected);
  reopen();
  EXPECT_EQ(found(expected.info.id), expected);
  Responses& again = *capabilities().responses;
  ASSERT_TRUE(works(again.add_response(expected, answered("b", at(4)), operation_id("first"))));
  EXPECT_EQ(found(expected.info.id), expected) << "the operation has happened";
  ASSERT_TRUE(works(again.add_response(expected, answered("b", at(4)), operation_id("next"))));
  EXPECT_EQ(found(expected.info.id).response_chain,
            (Chain{{"openai-responses", "a"}, {"openai-responses", "b"}}));
}

TEST_P(StoreContract, ThreadsAppendToOneChain) {
  REPRISE_NEEDS(!capabilities().messages);
  const SessionId id = create("s");
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([this, &id, thread] {
        for (int number = 0; number < 10; ++number) {
          const std::string response = std::to_string(thread) + "-" + std::to_string(number);
          EXPECT_TRUE(works(store().append(id, {answered(response)}, {})));
        }
      });
    }
  }
  reopen();
  std::vector<int> next(4, 0);
  const Chain chain = found(id).response_chain;
  EXPECT_EQ(chain.size(), 40U);
  for (const ResponseLink& link : chain) {
    const auto thread = static_cast<std::size_t>(link.response_id.front() - '0');
    EXPECT_EQ(link.response_id, std::to_string(thread) + "-" + std::to_string(next.at(thread)++));
  }
}

}  // namespace
}  // namespace reprise::test
