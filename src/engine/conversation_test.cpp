#include "reprise/conversation.h"

#include <gtest/gtest.h>

#include <semaphore>
#include <stdexcept>
#include <thread>

#include "base/text.h"
#include "engine/testing/fake_provider.h"
#include "engine/testing/messages.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"

namespace reprise {
namespace {

// Calls a function with each text.
class CallingObserver final : public TurnObserver {
 public:
  explicit CallingObserver(std::function<void()> call) : call_(std::move(call)) {}
  void on_text(std::string_view /*text*/) override { call_(); }

 private:
  std::function<void()> call_;
};

class ConversationTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(store_->create(session_)); }

  void record(std::vector<Message> messages) {
    const auto appended = store_->append(session_.info.id, std::move(messages), {});
    ASSERT_TRUE(appended);
    session_.info.head = appended->head;
  }
  std::vector<Message> stored() { return *read_all(*store_, session_.info.id); }
  bool is_running() {
    return store_->capabilities().partials->find_partial(session_.info.id)->has_value();
  }
  Conversation conversation(ConversationOptions options = {}) {
    return {provider_, store_.get(), session_, std::move(options)};
  }

  std::unique_ptr<Store> store_ = open_memory_store();
  Session session_ = make_session("s1");
  FakeProvider provider_;
  RecordingObserver listener_;
  std::stop_source stop_;
};

TEST_F(ConversationTest, StoresAPlainTurn) {
  session_.system_prompt = "be brief";
  auto& script = provider_.add();
  script.started("r1").then([&] {
    EXPECT_EQ(spell(stored()), "user: Hi");  // durable before the answer starts
    EXPECT_TRUE(is_running());
  });
  script.thinking("hm", "sig").text("Hel").text("lo").usage(3, 2).ended();
  Conversation conversation(provider_, store_.get(), session_, {.model = "m"});
  const auto outcome = conversation.ask("Hi", listener_);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->saved);
  EXPECT_FALSE(outcome->error);
  EXPECT_EQ(spell(stored()), "user: Hi | assistant: (hm) Hello");
  const Message answer = stored().at(1);
  EXPECT_EQ(answer, outcome->answer);
  EXPECT_EQ(answer.provider, "fake");
  EXPECT_EQ(answer.model, "fake-1");
  EXPECT_EQ(answer.response_id, "r1");
  EXPECT_EQ(answer.usage->request_id, "r1");
  EXPECT_FALSE(is_running());
  EXPECT_EQ(listener_.text, "Hello");
  EXPECT_EQ(listener_.thinking, "hm");
  EXPECT_EQ(listener_.messages.size(), 1U);
  EXPECT_EQ(listener_.usages.size(), 1U);
  EXPECT_TRUE(listener_.warnings.empty());
  EXPECT_EQ(provider_.seen.at(0).system, "be brief");
  EXPECT_EQ(provider_.seen.at(0).model, "m");
  EXPECT_EQ(conversation.session().info.head.value, 2);
  EXPECT_EQ(conversation.session().usage.input.value, 3);
}

TEST_F(ConversationTest, WhatACallerPassesIsChecked) {
  const auto refusal = [this](ConversationOptions options, std::string_view text = "Hi") {
    const auto refused = conversation(std::move(options)).ask(text, listener_);
    return refused || refused.error().code != Code::invalid_argument ? "" : refused.error().message;
  };
  EXPECT_EQ(refusal({}, "caf\xe9"), "blocks[0].text is not UTF-8 (from byte 3 on)");
  EXPECT_EQ(refusal({.model = "\xff"}), "model is not UTF-8 (from byte 0 on)");
  EXPECT_EQ(refusal({.system = "\xff"}), "system is not UTF-8 (from byte 0 on)");
  EXPECT_EQ(refusal({.temperature = -1}), "temperature must be a number from 0 on");
  EXPECT_EQ(refusal({.max_tokens = -3}), "max_tokens must be at least 1");
  EXPECT_EQ(refusal({.budget = TokenCount{-1}}), "budget must not be negative");
  EXPECT_EQ(refusal({.tool_rounds_max = -1}), "tool_rounds_max must not be negative");
  EXPECT_EQ(refusal({.busy_timeout = std::chrono::milliseconds(-1)}),
            "busy_timeout must not be negative");
  EXPECT_EQ(refusal({.answer_lease = std::chrono::milliseconds(0)}),
            "answer_lease must be positive");
  EXPECT_TRUE(stored().empty());
  EXPECT_TRUE(provider_.seen.empty());
}

// A second call on the same object is refused, and does not disturb the first one.
TEST_F(ConversationTest, ACallbackCannotUseTheConversation) {
  provider_.add().text("one").ended();
  Conversation conversation(provider_, store_.get(), session_, {});
  std::vector<Code> codes;
  const std::function<void()> call_again = [&] {
    RecordingObserver inner;
    const std::optional<Error> errors[] = {conversation.ask("nested", inner).error(),
                                           conversation.continue_turn(inner).error(),
                                           conversation.retry(inner).error(),
                                           conversation.dry_run({text_of("nested")}).error(),
                                           conversation.store_unsaved().error(),
                                           conversation.unsaved_messages().error()};
    for (const auto& error : errors) {
      codes.push_back(error->code);
    }
    EXPECT_TRUE(conversation.store_session()) << "allowed during a turn";
    EXPECT_TRUE(inner.text.empty());
  };
  CallingObserver observer(call_again);
  const auto outcome = conversation.ask("outer", observer);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->saved);
  EXPECT_EQ(codes, std::vector<Code>(6, Code::invalid_argument));
  EXPECT_EQ(spell(stored()), "user: outer | assistant: one");
  EXPECT_TRUE(conversation.ask("and after it", listener_));
}

TEST_F(ConversationTest, AnotherThreadCannotUseTheConversation) {
  std::binary_semaphore is_running(0);
  std::binary_semaphore may_end(0);
  provider_.add()
      .then([&] {
        is_running.release();
        may_end.acquire();
      })
      .text("one")
      .ended();
  Conversation conversation(provider_, store_.get(), session_, {});
  std::jthread first([&] {
    RecordingObserver observer;
    EXPECT_TRUE(conversation.ask("first", observer));
  });
  is_running.acquire();
  const auto refused = conversation.ask("second", listener_);
  may_end.release();
  first.join();
  EXPECT_EQ(refused.error().code, Code::invalid_argument);
  EXPECT_EQ(spell(stored()), "user: first | assistant: one");
}

TEST_F(ConversationTest, AnExceptionReleasesTheConversation) {
  provider_.add().text("one").ended();
  Conversation conversation(provider_, store_.get(), session_, {});
  CallingObserver throwing([] { throw std::runtime_error("no"); });
  EXPECT_THROW((void)conversation.ask("first", throwing), std::runtime_error);
  EXPECT_TRUE(conversation.ask("second", listener_));
}

TEST_F(ConversationTest, StoresANewSessionWithItsFirstMessage) {
  session_ = make_session("s2");
  provider_.add().text("one").ended();
  int stored_sessions = 0;
  auto conversation = this->conversation(
      {.is_new = true, .on_session_stored = [&stored_sessions] { ++stored_sessions; }});
  EXPECT_EQ(conversation.continue_turn(listener_).error().code, Code::invalid_argument);
  EXPECT_EQ(conversation.retry(listener_).error().code, Code::invalid_argument);
  EXPECT_FALSE(conversation.is_session_stored());
  EXPECT_FALSE(*store_->find(session_.info.id));
  ASSERT_TRUE(conversation.ask("a", listener_)->saved);
  EXPECT_TRUE(conversation.is_session_stored());
  EXPECT_EQ(spell(stored()), "user: a | assistant: one");
  EXPECT_EQ(stored_sessions, 1);
  EXPECT_TRUE(listener_.warnings.empty());
}

TEST_F(ConversationTest, TitlesANewSessionAfterItsFirstQuestion) {
  for (const std::string_view title : {"", "Mine"}) {
    session_ = make_session(cat("titled-", title));
    session_.info.title = title;
    provider_.add().fails(Code::io);
    auto conversation = this->conversation({.is_new = true, .title_from_question = true});
    ASSERT_FALSE(conversation.ask("what is new", listener_));
    EXPECT_EQ(get(*store_, session_.info.id)->info.title, title.empty() ? "what is new" : title);
  }
}

TEST_F(ConversationTest, StoresANewSessionOnRequest) {
  session_ = make_session("s2");
  provider_.add().text("one").ended();
  auto conversation = this->conversation({.is_new = true});
  ASSERT_TRUE(conversation.store_session());
  ASSERT_TRUE(conversation.store_session());
  EXPECT_TRUE(*store_->find(session_.info.id));
  ASSERT_TRUE(conversation.ask("a", listener_)->saved);
  EXPECT_EQ(spell(stored()), "user: a | assistant: one");
}

// As in the store, whose sums it displays.
TEST_F(ConversationTest, ARepeatedRequestIdIsCountedOnce) {
  for (const std::string_view request : {"r1", "r1", "r2"}) {
    provider_.add().text("ok").usage(3, 2, request).ended();
  }
  provider_.add().text("ok").usage(std::numeric_limits<std::int64_t>::max(), 1, "r3").ended();
  auto conversation = this->conversation();
  for (const char* question : {"a", "b", "c", "d"}) {
    ASSERT_TRUE(conversation.ask(question, listener_));
  }
  const Usage usage = conversation.session().usage;
  EXPECT_EQ(usage.output.value, 5);
  EXPECT_EQ(usage.input.value, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(usage, get(*store_, session_.info.id)->usage);
}

TEST_F(ConversationTest, TheNextTurnSendsTheWholeHistory) {
  provider_.add().text("one").ended();
  provider_.add().text("two").ended();
  Conversation conversation(provider_, store_.get(), session_, {});
  ASSERT_TRUE(conversation.ask("a", listener_));
  ASSERT_TRUE(conversation.ask("b", listener_));
  EXPECT_EQ(spell(provider_.seen.at(1).messages), "user: a | assistant: one | user: b");
  EXPECT_EQ(stored().size(), 4U);
}

TEST_F(ConversationTest, WarnsOfAnEmptyAnswer) {
  provider_.add().ended();
  provider_.add().thinking("hm").text(" \n").ended();
  provider_.add().thinking("hm").text("one").ended();
  provider_.add().ended(StopReason::refused);
  Conversation conversation(provider_, store_.get(), session_, {});
  const std::vector<std::string> expected[] = {{"the model's answer is empty"},
                                               {"the model's answer is empty"},
                                               {},
                                               {"the model refused to answer"}};
  for (const auto& warnings : expected) {
    listener_.warnings.clear();
    ASSERT_TRUE(conversation.ask("a", listener_));
    EXPECT_EQ(listener_.warnings, warnings);
  }
}

TEST_F(ConversationTest, WorksWithoutAStore) {
  provider_.add().text("one").ended();
  provider_.add().text("two").ended();
  Conversation conversation(provider_, nullptr, session_, {});
  EXPECT_TRUE(conversation.ask("a", listener_)->saved);
  EXPECT_TRUE(conversation.ask("b", listener_)->saved);
  EXPECT_EQ(spell(provider_.seen.at(1).messages), "user: a | assistant: one | user: b");
  EXPECT_TRUE(listener_.warnings.empty());
  EXPECT_EQ(conversation.retry(listener_).error().code, Code::unsupported);
}

TEST_F(ConversationTest, UnacceptableInputIsRefused) {
  auto conversation = this->conversation();
  EXPECT_EQ(conversation.ask(" \n", listener_).error().code, Code::invalid_argument);
  EXPECT_EQ(conversation.ask(std::vector<Block>{}, listener_).error().code, Code::invalid_argument);
  EXPECT_EQ(conversation.ask({Block(result_of("t"))}, listener_).error().code,
            Code::invalid_argument);
  EXPECT_TRUE(stored().empty());
}

// A caller's bytes are refused unless they come as such; those of a model never are.
TEST_F(ConversationTest, InvalidUtf8IsPreservedOrMended) {
  provider_.add().text("ok \xFF").ended();
  auto conversation = this->conversation();
  EXPECT_EQ(conversation.ask("a\xFF", listener_).error().code, Code::invalid_argument);
  ASSERT_TRUE(conversation.ask({Block(text_block("a\xFF"))}, listener_));
  EXPECT_EQ(std::get<TextBlock>(stored().at(0).blocks.at(0)).extra.size(), 1U);
  EXPECT_EQ(plain_text(stored().at(1)), "ok \xEF\xBF\xBD");
}

TEST_F(ConversationTest, ImagesAreStoredAsBlobs) {
  provider_.add().text("nice").ended();
  auto conversation = this->conversation();
  ASSERT_TRUE(conversation.ask(
      {text_of("look"), ImageBlock{"image/png", {}, "data:image/png;base64,iVBORy4uLi4=", {}}},
      listener_));
  EXPECT_TRUE(std::get<ImageBlock>(stored().at(0).blocks.at(1)).blob);
  EXPECT_EQ(spell(provider_.seen.at(0).messages),
            "user: look image data:image/png;base64,iVBORy4uLi4=");
}

TEST_F(ConversationTest, PrecedenceOfPromptsIsRunSessionStored) {
  record({message_of("system", {text_of("old")}), user("q"), assistant("a")});
  for (int i = 0; i < 40; ++i) {
    record({user("q"), assistant("a")});
  }
  provider_.add().text("x").ended();
  ASSERT_TRUE(conversation().ask("1", listener_));
  record({message_of("system", {text_of("new")})});
  ASSERT_TRUE(conversation().ask("2", listener_));
  session_.system_prompt = "session";
  ASSERT_TRUE(conversation().ask("3", listener_));
  ASSERT_TRUE(conversation({.system = "run"}).ask("4", listener_));
  ASSERT_EQ(provider_.seen.size(), 4U);
  EXPECT_EQ(provider_.seen.at(0).system, "old");
  EXPECT_EQ(provider_.seen.at(1).system, "new");
  EXPECT_EQ(provider_.seen.at(2).system, "session");
  EXPECT_EQ(provider_.seen.at(3).system, "run");
}

TEST_F(ConversationTest, TheBudgetKeepsTheNewestWholeTurns) {
  const std::string long_text(400, 'a');  // 100 tokens
  record({user("old"), assistant(long_text), user("mid"), assistant({call_of("t1")}),
          results({result_of("t1", long_text)}), assistant("done")});
  provider_.add().text("x").ended();
  ASSERT_TRUE(conversation({.budget = TokenCount{60}}).ask("q", listener_));
  EXPECT_EQ(spell(provider_.seen.at(0).messages), "user: q");
  ASSERT_EQ(listener_.notes.size(), 1U);
  ASSERT_TRUE(conversation({.budget = TokenCount{180}}).ask("q", listener_));
  EXPECT_TRUE(spell(provider_.seen.at(1).messages).starts_with("user: mid | assistant: call t1"));
  ASSERT_TRUE(conversation({.budget = TokenCount{1}}).ask("q", listener_));
  EXPECT_EQ(spell(provider_.seen.at(2).messages), "user: q");
  ASSERT_TRUE(conversation({.budget = TokenCount{100'000}}).ask("q", listener_));
  EXPECT_EQ(provider_.seen.at(3).messages.size(), 6U + 7U);
}

TEST_F(ConversationTest, APromptOverTheBudgetIsRefusedBeforeAnythingHappens) {
  provider_.add().text("a").ended();
  Conversation tight = conversation({.system = std::string(400, 'x'), .budget = TokenCount{100}});
  const auto outcome = tight.ask("q", listener_);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::invalid_argument);
  EXPECT_EQ(
      outcome.error().message,
      "the system prompt alone takes about 104 tokens, more than the budget of 100; shorten it "
      "or raise the budget");
  EXPECT_EQ(tight.dry_run({text_of("q")}).error().code, Code::invalid_argument);
  EXPECT_TRUE(provider_.seen.empty());
  EXPECT_TRUE(stored().empty());
  EXPECT_TRUE(conversation({.system = std::string(400, 'x'), .budget = TokenCount{104}})
                  .ask("q", listener_));
}

TEST_F(ConversationTest, DryRunChangesNothing) {
  record({user("a"), assistant("b")});
  EXPECT_EQ(*conversation({.model = "m"}).dry_run({text_of("q")}), "POST m 3");
  EXPECT_EQ(stored().size(), 2U);
  session_ = make_session("not-stored-yet");
  EXPECT_EQ(*conversation({.model = "m"}).dry_run({text_of("q")}), "POST m 1");
  EXPECT_FALSE(*store_->find(session_.info.id));
  EXPECT_EQ(conversation().dry_run({}).error().code, Code::invalid_argument);
}

TEST_F(ConversationTest, AnInterruptionAtEveryEventStoresTheAnswerSoFar) {
  for (const Code code : {Code::io, Code::cancelled}) {
    for (std::size_t cut = 0; cut <= 6; ++cut) {
      const auto store = open_memory_store();
      ASSERT_TRUE(store->create(session_));
      FakeProvider provider;
      std::stop_source stop;
      Script& script = provider.add();
      Script whole;
      whole.started("r").thinking("hm").text("Hel").text("lo").call("t", "x", R"({"a":1})");
      whole.steps.resize(std::min(cut, whole.steps.size()));
      script.steps = whole.steps;
      code == Code::io ? script.fails(code) : script.then([&stop] { stop.request_stop(); });
      Conversation conversation(provider, store.get(), session_, {});
      const auto outcome = conversation.ask("q", listener_, stop.get_token());
      const auto messages = *read_all(*store, session_.info.id);
      EXPECT_FALSE(store->capabilities().partials->find_partial(session_.info.id)->has_value());
      if (cut < 2) {
        ASSERT_FALSE(outcome);
        EXPECT_EQ(outcome.error().code, code);
        EXPECT_EQ(spell(messages), "user: q");
        continue;
      }
      ASSERT_TRUE(outcome);
      EXPECT_EQ(outcome->error->code, code);
      EXPECT_TRUE(outcome->saved);
      ASSERT_EQ(messages.size(), 2U);
      EXPECT_EQ(messages.at(1).state, MessageState::incomplete);
      EXPECT_EQ(plain_text(messages.at(1)), cut < 3 ? "" : cut < 4 ? "Hel" : "Hello");
    }
  }
}

TEST_F(ConversationTest, ContinuesAnInterruptedAnswer) {
  provider_.add().text("One, tw").fails(Code::io);
  provider_.add().started("r2").text("o, thr").fails(Code::timeout);
  provider_.add().started("r3").thinking("hm").text("ee.").ended();
  provider_.stores = true;
  Conversation conversation(provider_, store_.get(), session_, {});
  EXPECT_TRUE(conversation.ask("count", listener_)->error);
  EXPECT_TRUE(conversation.continue_turn(listener_)->error);
  EXPECT_EQ(spell(stored()), "user: count | assistant: One, two, thr");
  const auto outcome = conversation.continue_turn(listener_);
  ASSERT_TRUE(outcome && !outcome->error);
  EXPECT_EQ(spell(stored()), "user: count | assistant: (hm) One, two, three.");
  EXPECT_EQ(stored().at(1).state, MessageState::complete);
  EXPECT_EQ(stored().at(1), outcome->answer);
  const auto& seen = provider_.seen.at(2);
  EXPECT_EQ(seen.previous_response_id, "");  // never after an incomplete answer
  EXPECT_TRUE(spell(seen.messages).starts_with("user: count | assistant: One, two, thr | user: "));
  EXPECT_EQ(conversation.continue_turn(listener_).error().code, Code::invalid_argument);
  EXPECT_FALSE(is_running());
}

TEST_F(ConversationTest, AFailedContinuationLosesNothing) {
  record({user("count"), incomplete({text_of("One, tw")})});
  provider_.add().fails(Code::io);
  EXPECT_EQ(conversation().continue_turn(listener_).error().code, Code::io);
  EXPECT_EQ(spell(stored()), "user: count | assistant: One, tw");
  EXPECT_FALSE(is_running());
}

TEST_F(ConversationTest, ContinuesAfterAQuestionAndAfterCalls) {
  provider_.add().text("yes").ended();
  record({user("q")});
  ASSERT_TRUE(conversation().continue_turn(listener_));
  EXPECT_EQ(spell(stored()), "user: q | assistant: yes");
  record({user("r"), assistant({call_of("t1"), call_of("t2")}), results({result_of("t1")})});
  ASSERT_TRUE(conversation().continue_turn(listener_));
  EXPECT_TRUE(spell(provider_.seen.at(1).messages)
                  .ends_with("user: result t1=ok error t2=the tool call did not complete"));
  record({user("s"), assistant({call_of("t3")})});
  ASSERT_TRUE(conversation().continue_turn(listener_));
  record({user("s"), incomplete({ThinkingBlock{"hm", {}, {}}})});
  ASSERT_TRUE(conversation().continue_turn(listener_));
  EXPECT_TRUE(spell(provider_.seen.back().messages).ends_with("user: s"));
  session_ = make_session("empty");
  ASSERT_TRUE(store_->create(session_));
  EXPECT_EQ(conversation().continue_turn(listener_).error().code, Code::invalid_argument);
}

TEST_F(ConversationTest, RequestsContainTheOptions) {
  provider_.add().text("One").ended(StopReason::max_tokens);
  provider_.add().text(" two").ended();
  auto conversation =
      this->conversation({.request = {.effort = "high", .seed = 7}, .budget = TokenCount{60}});
  ASSERT_TRUE(conversation.ask("q", listener_));
  ASSERT_TRUE(conversation.continue_turn(listener_));
  EXPECT_EQ(provider_.seen.at(0).options, (RequestOptions{.effort = "high", .seed = 7}));
  EXPECT_EQ(provider_.seen.at(0).conversation, session_.info.id.str());
  EXPECT_TRUE(provider_.seen.at(0).grows);
  EXPECT_FALSE(provider_.seen.at(1).grows);  // the instruction to continue is only in this request
  ASSERT_TRUE(conversation.ask(std::string(400, 'x'), listener_));
  EXPECT_FALSE(provider_.seen.at(2).grows);  // the budget cuts the beginning
}

TEST_F(ConversationTest, AnAnswerAtTheTokenLimitCanBeContinued) {
  provider_.add().text("One").ended(StopReason::max_tokens);
  provider_.add().text(" two").ended(StopReason::refused);
  auto conversation = this->conversation();
  EXPECT_FALSE(conversation.ask("q", listener_)->error);
  ASSERT_TRUE(conversation.continue_turn(listener_));
  EXPECT_EQ(spell(stored()), "user: q | assistant: One two");
  EXPECT_EQ(listener_.warnings.size(), 2U);
}

TEST_F(ConversationTest, RetryReplacesTheAnswer) {
  record({user("a"), assistant("1"), user("b"), assistant({call_of("t")}),
          results({result_of("t")}), assistant("2")});
  provider_.add().fails(Code::rate_limited);
  provider_.add().text("3").ended();
  auto conversation = this->conversation();
  EXPECT_EQ(conversation.retry(listener_).error().code, Code::rate_limited);
  EXPECT_EQ(stored().size(), 6U);  // the old answer remains until there is a new one
  ASSERT_TRUE(conversation.retry(listener_));
  EXPECT_EQ(spell(provider_.seen.at(1).messages), "user: a | assistant: 1 | user: b");
  EXPECT_EQ(spell(stored()), "user: a | assistant: 1 | user: b | assistant: 3");
  EXPECT_FALSE(is_running());
}

TEST_F(ConversationTest, RetryOfAnUnansweredQuestionAsksIt) {
  provider_.add().text("3").ended();
  EXPECT_EQ(conversation().retry(listener_).error().code, Code::invalid_argument);
  EXPECT_FALSE(is_running());
  record({user("a")});
  ASSERT_TRUE(conversation().retry(listener_));
  EXPECT_EQ(spell(stored()), "user: a | assistant: 3");
}

TEST_F(ConversationTest, WithoutAStoreEarlierMessagesAreSent) {
  provider_.add().text("b").ended();
  ConversationOptions options{.earlier = {user("q"), assistant("a")}};
  Conversation conversation(provider_, nullptr, session_, std::move(options));
  ASSERT_TRUE(conversation.ask("again", listener_));
  EXPECT_EQ(spell(provider_.seen.at(0).messages), "user: q | assistant: a | user: again");
}

PartialStart running(Owner owner) {
  return {.answer = *OperationId::parse("other"),
          .owner = std::move(owner),
          .provider = "p",
          .model = "m",
          .started_at = {}};
}

TEST_F(ConversationTest, ADeadProcesssAnswerIsSettledFirst) {
  Owner dead = this_process();
  dead.started += 1;  // the same pid, but another process
  ASSERT_TRUE(store_->append(session_.info.id, {user("q")}, {.begin_partial = running(dead)}));
  const std::vector<Block> delta = {text_of("half")};
  ASSERT_TRUE(store_->capabilities().partials->add_partial(session_.info.id,
                                                           *OperationId::parse("other"), delta));
  provider_.add().text("x").ended();
  ASSERT_TRUE(conversation().ask("again", listener_));
  EXPECT_EQ(spell(stored()), "user: q | assistant: half | user: again | assistant: x");
  EXPECT_EQ(stored().at(1).state, MessageState::incomplete);
  EXPECT_FALSE(*recover_interrupted(*store_, session_.info.id));
}

TEST_F(ConversationTest, AnEmptyDeadAnswerLeavesNoMessage) {
  Owner dead = this_process();
  dead.started += 1;
  ASSERT_TRUE(store_->append(session_.info.id, {user("q")}, {.begin_partial = running(dead)}));
  EXPECT_TRUE(*recover_interrupted(*store_, session_.info.id));
  EXPECT_EQ(stored().size(), 1U);
}

TEST_F(ConversationTest, ALiveAnswerElsewhereIsWaitedForThenBusy) {
  ASSERT_TRUE(
      store_->append(session_.info.id, {user("q")}, {.begin_partial = running(this_process())}));
  EXPECT_FALSE(*recover_interrupted(*store_, session_.info.id));
  auto conversation = this->conversation({.busy_timeout = std::chrono::milliseconds(30)});
  const auto refused = conversation.ask("again", listener_);
  EXPECT_EQ(refused.error().code, Code::busy);
  EXPECT_NE(refused.error().message.find(std::to_string(this_process().pid)), std::string::npos);
  EXPECT_EQ(stored().size(), 1U);
  const std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(conversation.ask("again", listener_, stop.get_token()).error().code, Code::cancelled);
  provider_.add().text("x").ended();
  const std::jthread ends([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(store_->append(session_.info.id, {assistant("there")},
                               {.end_partial = *OperationId::parse("other")}));
  });
  Conversation patient(provider_, store_.get(), session_, {});
  ASSERT_TRUE(patient.ask("again", listener_));
  EXPECT_EQ(spell(stored()), "user: q | assistant: there | user: again | assistant: x");
}

TEST_F(ConversationTest, TwoConversationsOnOneSessionTakeTurns) {
  const auto run = [this](std::string_view word) {
    FakeProvider provider;
    provider.add().text("to ").text(word).ended();
    Conversation conversation(provider, store_.get(), session_, {});
    for (int i = 0; i < 10; ++i) {
      RecordingObserver listener;
      const auto outcome = conversation.ask(word, listener);
      ASSERT_TRUE(outcome && outcome->saved) << outcome.error().message;
    }
  };
  {
    const std::jthread other([&run] { run("left"); });
    run("right");
  }
  const auto messages = stored();
  ASSERT_EQ(messages.size(), 40U);
  for (std::size_t i = 0; i < messages.size(); i += 2) {
    EXPECT_EQ(plain_text(messages.at(i + 1)), cat("to ", plain_text(messages.at(i))));
  }
}

TEST_F(ConversationTest, StreamedTextIsSavedWithinFiftyMilliseconds) {
  auto& script = provider_.add();
  script.text("first ").text("words").call("t", "x", R"({"a":)").then([this] {
    std::optional<Partial> partial;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (partial = *store_->capabilities().partials->find_partial(session_.info.id),
           partial && partial->blocks.size() < 2) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ASSERT_TRUE(partial);
    EXPECT_EQ(spell({message_of("partial", partial->blocks)}),
              R"(partial: first words call t"{\"a\":")");
  });
  script.fails(Code::io);
  EXPECT_TRUE(conversation().ask("q", listener_)->error);
}

class ResponseIdTest : public ConversationTest {
 protected:
  void SetUp() override {
    ConversationTest::SetUp();
    provider_.stores = true;
    Message answer = assistant("a");
    answer.response_id = "r1";
    record({user("q"), answer});
  }
};

TEST_F(ResponseIdTest, OnlyNewMessagesAreSent) {
  provider_.add().started("r2").text("b").ended();
  provider_.add().started("r3").text("c").ended();
  auto conversation = this->conversation({.system = "s"});
  ASSERT_TRUE(conversation.ask("one", listener_));
  ASSERT_TRUE(conversation.ask("two", listener_));
  EXPECT_EQ(provider_.seen.at(0).previous_response_id, "r1");
  EXPECT_EQ(provider_.seen.at(0).system, "s");
  EXPECT_EQ(spell(provider_.seen.at(0).messages), "user: one");
  EXPECT_EQ(provider_.seen.at(1).previous_response_id, "r2");
  EXPECT_EQ(spell(provider_.seen.at(1).messages), "user: two");
}

TEST_F(ResponseIdTest, AnExpiredOneIsReplayed) {
  provider_.add().fails(Code::expired);
  provider_.add().started("r9").text("b").ended();
  provider_.add().text("c").ended();
  auto conversation = this->conversation();
  ASSERT_TRUE(conversation.ask("one", listener_));
  EXPECT_EQ(spell(provider_.seen.at(1).messages), "user: q | assistant: a | user: one");
  EXPECT_EQ(provider_.seen.at(1).previous_response_id, "");
  EXPECT_EQ(listener_.notes.size(), 1U);
  EXPECT_TRUE(listener_.warnings.empty());
  ASSERT_TRUE(conversation.ask("two", listener_));
  EXPECT_EQ(provider_.seen.at(2).previous_response_id, "r9");
}

TEST_F(ResponseIdTest, TheRefusalAfterAnExpiredOneIsShown) {
  provider_.add().fails(Code::expired);
  provider_.add().refuses(Refusal{});
  EXPECT_EQ(conversation().ask("one", listener_).error().code, Code::invalid_argument);
}

TEST_F(ResponseIdTest, ARejectedContinuationIsRetriedOnceWithAllMessages) {
  provider_.add().fails(Code::invalid_argument);
  provider_.add().started("r9").text("b").ended();
  auto conversation = this->conversation();
  ASSERT_TRUE(conversation.ask("one", listener_));
  ASSERT_EQ(provider_.seen.size(), 2U);
  EXPECT_EQ(provider_.seen.at(0).previous_response_id, "r1");
  EXPECT_EQ(provider_.seen.at(1).previous_response_id, "");
  EXPECT_EQ(spell(provider_.seen.at(1).messages), "user: q | assistant: a | user: one");
  EXPECT_EQ(listener_.notes.size(), 1U);

  provider_.scripts.clear();
  provider_.seen.clear();
  provider_.add().fails(Code::invalid_argument);
  EXPECT_EQ(conversation.ask("two", listener_).error().code, Code::invalid_argument);
  EXPECT_EQ(provider_.seen.size(), 2U);  // a request that is rejected with all messages fails
}

TEST_F(ResponseIdTest, AProviderThatDoesNotContinueByDefaultGetsAllMessages) {
  provider_.continues = false;
  provider_.add().text("b").ended();
  ASSERT_TRUE(conversation().ask("one", listener_));
  EXPECT_EQ(provider_.seen.at(0).previous_response_id, "");
  EXPECT_FALSE(provider_.seen.at(0).store_response);
  EXPECT_EQ(spell(provider_.seen.at(0).messages), "user: q | assistant: a | user: one");
}

TEST_F(ResponseIdTest, OtherErrorsNeverReplay) {
  for (const Code code : {Code::unauthorized, Code::rate_limited, Code::io, Code::timeout}) {
    provider_.scripts.clear();
    provider_.seen.clear();
    provider_.add().fails(code);
    EXPECT_EQ(conversation().ask("one", listener_).error().code, code);
    EXPECT_EQ(provider_.seen.size(), 1U);
  }
}

TEST_F(ResponseIdTest, NotAfterOtherProvidersOrIncompleteAnswers) {
  provider_.add().text("x").ended();
  Message other = assistant({text_of("b")}, "other");
  other.response_id = "r2";
  Message cut = incomplete({text_of("c")});
  cut.response_id = "r3";
  for (const auto& last : {other, cut, assistant("no id"), message_of("system", {text_of("s")})}) {
    record({user("q"), last});
    ASSERT_TRUE(conversation().ask("one", listener_));
    EXPECT_EQ(provider_.seen.back().previous_response_id, "") << last.role << last.provider;
  }
}

TEST_F(ResponseIdTest, RetryContinuesFromTheAnswerBefore) {
  Message second = assistant("b");
  second.response_id = "r2";
  record({user("one"), second});
  provider_.add().text("x").ended();
  ASSERT_TRUE(conversation().retry(listener_));
  EXPECT_EQ(provider_.seen.at(0).previous_response_id, "r1");
  EXPECT_EQ(spell(provider_.seen.at(0).messages), "user: one");
}

}  // namespace
}  // namespace reprise
