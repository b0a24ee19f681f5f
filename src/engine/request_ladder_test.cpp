// A server that rejects requests: what is changed, in which order, what is said and remembered.

#include <gtest/gtest.h>

#include "base/text.h"
#include "engine/testing/fake_provider.h"
#include "engine/testing/messages.h"
#include "reprise/conversation.h"
#include "reprise/open_store.h"

namespace reprise {
namespace {

class RefusedRequest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(store_->create(session_)); }

  void record(std::vector<Message> messages) {
    ASSERT_TRUE(store_->append(session_.info.id, std::move(messages), {}));
  }
  // Each time in a new conversation, as another process would.
  Result<Outcome> ask(std::string_view question, ConversationOptions options = {}) {
    Conversation conversation(provider_, store_.get(), *get(*store_, session_.info.id),
                              std::move(options));
    return conversation.ask(question, listener_);
  }
  std::string sent(std::size_t request) { return spell(provider_.seen.at(request).messages); }
  std::string warnings() const { return joined(listener_.warnings); }

  std::unique_ptr<Store> store_ = open_memory_store();
  Session session_ = make_session("s1");
  FakeProvider provider_;
  RecordingObserver listener_;
};

TEST_F(RefusedRequest, OpaquePartsAreLeftOutFromThenOn) {
  record({user("a"), assistant({ThinkingBlock{"hm", "sig", {}}, text_of("b")})});
  provider_.add().refuses({}, "invalid request");
  provider_.add().text("d").ended();
  ASSERT_TRUE(ask("c"));
  ASSERT_EQ(provider_.seen.size(), 2U);
  EXPECT_EQ(sent(0), "user: a | assistant: (hm) b | user: c");
  EXPECT_EQ(sent(1), "user: a | assistant: b | user: c");
  EXPECT_EQ(warnings(),
            "invalid request; accepted without the reasoning and other marks of earlier answers");
  listener_ = {};
  ASSERT_TRUE(ask("e"));
  EXPECT_EQ(sent(2), "user: a | assistant: b | user: c | assistant: d | user: e");
  EXPECT_EQ(warnings(), "");
}

TEST_F(RefusedRequest, OneStepAfterTheOtherTheCheapestFirst) {
  record({user("a"),
          assistant({ThinkingBlock{"hm", "sig", {}}, call_of("call-1"), call_of("call-2")}),
          results({result_of("call-1", "one"), result_of("call-2", "two")}),
          message_of(role::kUser, {ImageBlock{"image/png", {}, "https://x/y.png", {}}}),
          assistant("b")});
  for (int refusals = 0; refusals < 5; ++refusals) {
    provider_.add().refuses({.has_parameters = true}, "invalid request");
  }
  provider_.add().text("d").ended();
  ASSERT_TRUE(ask("c", {.system = "be brief"}));
  std::vector<RequestForm> forms;
  std::ranges::transform(provider_.seen, std::back_inserter(forms), &SeenRequest::form);
  RequestForm form;
  std::vector<RequestForm> expected = {form};
  form.omits_opaque = true;
  expected.push_back(form);
  form.omits_parameters = true;
  expected.push_back(form);
  form.prompt_in_question = form.answers_results = form.strict_ids = form.single_calls = true;
  expected.push_back(form);
  form.tools_as_text = true;
  expected.push_back(form);
  form.omits_media = true;
  expected.push_back(form);
  EXPECT_EQ(forms, expected);
}

TEST_F(RefusedRequest, TheWordsOfARefusalChooseTheStep) {
  record({user("a"), assistant({ThinkingBlock{"hm", "sig", {}}, call_of("call-1")}),
          results({result_of("call-1")})});
  provider_.add().refuses({.hint = {.answers_results = true}}, "no user after tool");
  provider_.add().text("d").ended();
  ASSERT_TRUE(ask("c"));
  EXPECT_EQ(sent(1),
            "user: a | assistant: (hm) call call-1{} | user: result call-1=ok | assistant: (the "
            "turn was stopped here, before an answer) | user: c");
}

// What a misread hint fills in is not sent again.
TEST_F(RefusedRequest, WhatWasFilledInAndDidNotHelpIsTakenBack) {
  record({user("a"), assistant({ThinkingBlock{"hm", "sig", {}}, call_of("call-1")}),
          results({result_of("call-1")}), assistant("b")});
  provider_.add().refuses({.hint = {.fills_reasoning = true}}, "no such member");
  provider_.add().refuses({.hint = {.fills_reasoning = true}}, "no such member");
  provider_.add().text("d").ended();
  ASSERT_TRUE(ask("c"));
  ASSERT_EQ(provider_.seen.size(), 3U);
  EXPECT_TRUE(provider_.seen.at(1).form.fills_reasoning);
  EXPECT_EQ(provider_.seen.at(2).form, RequestForm{.omits_opaque = true});
}

TEST_F(RefusedRequest, AFilledInPartStaysIfAnotherRefusalFollows) {
  record({user("a"), assistant({ThinkingBlock{"hm", "sig", {}}, call_of("call-1")}),
          results({result_of("call-1")}), assistant("b")});
  provider_.add().refuses({.hint = {.fills_reasoning = true}}, "reasoning is missing");
  provider_.add().refuses({.hint = {.strict_ids = true}}, "the id is too long");
  provider_.add().text("d").ended();
  ASSERT_TRUE(ask("c"));
  EXPECT_EQ(provider_.seen.at(2).form, (RequestForm{.strict_ids = true, .fills_reasoning = true}));
}

TEST_F(RefusedRequest, WhenNothingHelpsTheFirstRefusalIsShownAndNothingChanged) {
  record({user("a"), assistant({ThinkingBlock{"hm", "sig", {}}, text_of("b")})});
  provider_.add().refuses({}, "the first");
  provider_.add().refuses({}, "another");
  EXPECT_EQ(ask("c").error().message, "the first");
  EXPECT_EQ(provider_.seen.size(), 3U) << "without reasoning, and without the earlier turn";
  EXPECT_EQ(warnings(), "");
  provider_.scripts.clear();
  provider_.add().text("e").ended();
  ASSERT_TRUE(ask("d"));
  EXPECT_EQ(sent(3), "user: a | assistant: (hm) b | user: d");
}

TEST_F(RefusedRequest, ARefusalThatNoFormMendsIsTheError) {
  record({user("a"), assistant({ThinkingBlock{"hm", "sig", {}}, text_of("b")})});
  provider_.add().fails(Code::invalid_argument, "against the policy");
  EXPECT_EQ(ask("c").error().message, "against the policy");
  EXPECT_EQ(provider_.seen.size(), 1U);
}

TEST_F(RefusedRequest, WhatWasGivenForThisTurnIsSent) {
  const ImageBlock image{"image/png", {}, "https://x/y.png", {}};
  provider_.add().refuses({.hint = {.omits_media = true}}, "no images");
  Conversation conversation(provider_, store_.get(), *get(*store_, session_.info.id), {});
  EXPECT_EQ(conversation.ask({text_of("look"), image}, listener_).error().message, "no images");
  EXPECT_EQ(provider_.seen.size(), 1U);
}

TEST_F(RefusedRequest, ALengthIsCutToWhatIsNamed) {
  for (int turn = 0; turn < 40; ++turn) {
    record({user(cat("question ", turn, std::string(400, ' '), "x")), assistant("answer")});
  }
  provider_.add().refuses({.is_length = true, .size = 4000, .limit = 500}, "4000 > 500");
  provider_.add().text("ok").ended();
  ASSERT_TRUE(ask("now"));
  ASSERT_EQ(provider_.seen.size(), 2U);
  const std::size_t messages = provider_.seen.at(1).messages.size();
  EXPECT_GT(messages, 3U);
  EXPECT_LT(messages, 14U) << "a ninth of 81";
}

TEST_F(RefusedRequest, AHistoryOfAnyLengthIsCutUntilItFits) {
  for (int turn = 0; turn < 40; ++turn) {
    record({user(cat("question ", turn)), assistant(std::string(400, 'w'))});
  }
  for (int refusals = 0; refusals < 5; ++refusals) {
    provider_.add().refuses({.is_length = true}, "too long");
  }
  provider_.add().text("ok").ended();
  const auto asked = ask("now", {.model = "m"});
  ASSERT_TRUE(asked) << asked.error().message << " after " << provider_.seen.size() << ": "
                     << spell(provider_.seen.back().messages);
  EXPECT_EQ(sent(5), "user: now");
  EXPECT_EQ(warnings(), "too long; accepted without the earlier turns");
  provider_.seen.clear();
  ASSERT_TRUE(ask("and now", {.model = "m"}));
  EXPECT_EQ(sent(0), "user: now | assistant: ok | user: and now");
}

TEST_F(RefusedRequest, AContinuedResponseIsReplayedFirst) {
  provider_.stores = true;
  Message answer = assistant({ThinkingBlock{"hm", "sig", {}}, text_of("b")});
  answer.response_id = "r1";
  record({user("a"), answer});
  provider_.add().refuses({}, "invalid request");
  provider_.add().text("d").ended();
  ASSERT_TRUE(ask("c"));
  EXPECT_EQ(provider_.seen.at(0).previous_response_id, "r1");
  EXPECT_EQ(sent(1), "user: a | assistant: (hm) b | user: c");
}

TEST_F(RefusedRequest, AnAnswerThatEndsInAnUnknownWayIsIncomplete) {
  provider_.server = "model.test";
  provider_.add().text("half").ended(StopReason::other, "abort");
  const auto outcome = ask("q");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->answer.state, MessageState::incomplete);
  ASSERT_TRUE(outcome->error);
  EXPECT_EQ(outcome->error->message, "model.test ended the answer early: its reason is 'abort'");
}

TEST_F(RefusedRequest, ARefusingEndLeavesTheTurnOutAndTheChainGoesOnBeforeIt) {
  provider_.stores = true;
  provider_.add().started("r1").text("b").ended();
  provider_.add().started("r2").ended(StopReason::refused, "refusal");
  provider_.add().started("r3").text("d").ended();
  ASSERT_TRUE(ask("a"));
  ASSERT_TRUE(ask("bad"));
  EXPECT_NE(warnings().find("/rewind"), std::string::npos);
  ASSERT_TRUE(ask("c"));
  EXPECT_EQ(provider_.seen.at(2).previous_response_id, "r1");
  EXPECT_EQ(sent(2), "user: c");
}

TEST_F(RefusedRequest, AnswersWithOneIdAreCountedIfTheirUsageDiffers) {
  provider_.add().started("r").text("a").usage(1, 2, "same").ended();
  provider_.add().started("r").text("b").usage(3, 4, "same").ended();
  ASSERT_TRUE(ask("1"));
  ASSERT_TRUE(ask("2"));
  EXPECT_EQ(get(*store_, session_.info.id)->usage.output.value, 6);
}

TEST_F(RefusedRequest, AnAnswerThatIgnoresTheSchemaIsNoSuccess) {
  provider_.add().text("Sure!").ended();
  ConversationOptions options;
  options.request.schema = *RawJson::parse(R"({"type":"object"})");
  const auto outcome = ask("q", options);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->answer.state, MessageState::complete);
  ASSERT_TRUE(outcome->error);
  EXPECT_EQ(outcome->error->message, "the answer does not match the schema: it is not JSON");
}

TEST_F(RefusedRequest, ADocumentMayBeInSeveralBlocks) {
  provider_.add().text(R"({"a":"x)").thinking("hm").text(R"(y"})").ended();
  ConversationOptions options;
  options.request.schema = *RawJson::parse(R"({"properties":{"a":{"const":"xy"}}})");
  const auto outcome = ask("q", options);
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->error) << outcome->error->message;
}

TEST_F(RefusedRequest, UnknownMembersOfACallComeBackToItsMaker) {
  provider_.server = "model.test";
  provider_.add()
      .call("c1", "t", "{}")
      .members(R"({"extra_content":{"sig":1.0}})", true)
      .ended(StopReason::tool_use);
  provider_.add().text("done").members(R"({"citations":["u"]})", false).ended();
  ToolRegistry tools;
  ASSERT_TRUE(ask("q", {.model = "m", .tools = &tools}));
  const auto& call = std::get<ToolUseBlock>(provider_.seen.at(1).messages.at(1).blocks.at(0));
  ASSERT_EQ(call.extra.size(), 1U);
  EXPECT_EQ(call.extra.at(0).value.text(), R"({"sig":1.0})");
  const auto stored = *read_all(*store_, session_.info.id);
  EXPECT_EQ(std::get<TextBlock>(stored.back().blocks.at(0)).extra.at(0).value.text(), R"(["u"])");
}

}  // namespace
}  // namespace reprise
