// A failing store never stops a turn, whichever call fails.

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "base/text.h"
#include "engine/testing/fake_provider.h"
#include "engine/testing/faulty_store.h"
#include "engine/testing/messages.h"
#include "reprise/capabilities.h"
#include "reprise/conversation.h"
#include "reprise/open_store.h"

namespace reprise {
namespace {

constexpr std::string_view kWholeStory =
    "user: one | assistant: call t1{} | tool: result t1=done | assistant: 1 | "
    "user: two | assistant: 2 | user: three | assistant: 3";

class StoreFailureTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(memory_->create(session_));
    ASSERT_TRUE(tools_.add({{"t", "", *RawJson::parse("{}")},
                            [](const ToolContext&, const RawJson&) -> Result<ToolOutput> {
                              return ToolOutput{"done"};
                            }}));
    provider_.add().call("t1", "t", "").ended();
    provider_.add().text("1").ended();
    provider_.add().text("2").ended();
    provider_.add().text("3").ended();
  }

  // Three turns in one conversation; each must be answered.
  std::vector<Outcome> three_turns() {
    std::vector<Outcome> outcomes;
    Conversation conversation(provider_, &store_, session_, {.tools = &tools_});
    for (const std::string_view question : {"one", "two", "three"}) {
      listener_.warnings.clear();
      auto outcome = conversation.ask(question, listener_);
      EXPECT_TRUE(outcome) << outcome.error().message;
      if (!outcome) {
        break;
      }
      EXPECT_EQ(listener_.warnings.size(), outcome->saved ? 0U : 1U);
      outcomes.push_back(*std::move(outcome));
    }
    return outcomes;
  }
  std::string stored() { return spell(*read_all(*memory_, session_.info.id)); }

  std::unique_ptr<Store> memory_ = open_memory_store();
  FaultyStore store_{*memory_};
  Session session_ = make_session("s1");
  FakeProvider provider_;
  ToolRegistry tools_;
  RecordingObserver listener_;
};

TEST_F(StoreFailureTest, NothingFails) {
  for (const Outcome& outcome : three_turns()) {
    EXPECT_TRUE(outcome.saved);
  }
  EXPECT_EQ(stored(), kWholeStory);
}

TEST_F(StoreFailureTest, EverythingFails) {
  store_.fails = [](int) { return true; };
  const auto outcomes = three_turns();
  ASSERT_EQ(outcomes.size(), 3U);
  for (const Outcome& outcome : outcomes) {
    EXPECT_FALSE(outcome.saved);
  }
  EXPECT_EQ(stored(), "");
  EXPECT_EQ(spell(provider_.seen.at(3).messages),
            "user: one | assistant: call t1{} | user: result t1=done | assistant: 1 | user: two | "
            "assistant: 2 | user: three");
}

// What could not be stored is stored later, in order, once; also if the store had applied it and
// only the acknowledgement was lost.
class EachCallFails : public StoreFailureTest,
                      public testing::WithParamInterface<std::tuple<bool, bool>> {};

TEST_P(EachCallFails, EverythingIsStoredInTheEnd) {
  const auto& [fails_after_write, is_new] = GetParam();
  for (int failing = 0;; ++failing) {
    memory_ = open_memory_store();
    ASSERT_TRUE(is_new || memory_->create(session_));
    FaultyStore store(*memory_);
    store.capabilities_for_test().deferred_creation = nullptr;
    store.fails_after_write = fails_after_write;
    store.fails = [failing](int call) { return call == failing; };
    FakeProvider provider;
    provider.scripts = provider_.scripts;
    provider.reads_twice = false;  // a failing read must not fail the test
    auto conversation = std::make_unique<Conversation>(
        provider, &store, session_, ConversationOptions{.tools = &tools_, .is_new = is_new});
    std::size_t warnings = 0;
    for (const std::string_view question : {"one", "two", "three"}) {
      RecordingObserver listener;
      const auto outcome = conversation->ask(question, listener);
      ASSERT_TRUE(outcome) << outcome.error().message;
      EXPECT_LE(listener.warnings.size(), 1U);
      EXPECT_TRUE(outcome->saved || !listener.warnings.empty());
      warnings += listener.warnings.size();
    }
    conversation.reset();
    EXPECT_EQ(stored(), kWholeStory) << "call " << failing;
    EXPECT_FALSE(memory_->capabilities().partials->find_partial(session_.info.id)->has_value());
    for (const SeenRequest& request : provider.seen) {
      EXPECT_EQ(request.refusal, "");
    }
    if (store.calls <= failing) {
      EXPECT_EQ(warnings, 0U);
      EXPECT_GT(failing, 10);
      break;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Lost, EachCallFails, testing::Combine(testing::Bool(), testing::Bool()));

TEST_F(StoreFailureTest, ARecoveredStoreGetsEverything) {
  bool broken = true;
  store_.fails = [&broken](int) { return broken; };
  Conversation conversation(provider_, &store_, session_, {.tools = &tools_});
  EXPECT_FALSE(conversation.ask("one", listener_)->saved);
  EXPECT_FALSE(conversation.ask("two", listener_)->saved);
  broken = false;
  EXPECT_TRUE(conversation.ask("three", listener_)->saved);
  EXPECT_EQ(stored(), kWholeStory);
}

TEST_F(StoreFailureTest, TheLastAttemptIsTheEndOfTheConversation) {
  bool broken = true;
  store_.fails = [&broken](int) { return broken; };
  {
    Conversation conversation(provider_, &store_, session_, {.tools = &tools_});
    EXPECT_FALSE(conversation.ask("one", listener_)->saved);
    broken = false;
  }
  EXPECT_EQ(stored(), "user: one | assistant: call t1{} | tool: result t1=done | assistant: 1");
}

TEST_F(StoreFailureTest, AnUnreadableHistoryIsReported) {
  ASSERT_TRUE(memory_->append(session_.info.id, {user("old"), assistant("answer")}, {}));
  session_.info.head = Seq{2};
  store_.fails = [](int call) { return call == 2; };  // find, append, then the first read
  Conversation conversation(provider_, &store_, session_, {.tools = &tools_});
  const auto outcome = conversation.ask("one", listener_);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->saved);
  ASSERT_EQ(listener_.warnings.size(), 1U);
  EXPECT_NE(listener_.warnings.at(0).find("cannot be read"), std::string::npos);
  EXPECT_EQ(spell(provider_.seen.at(0).messages), "user: one");
}

TEST_F(StoreFailureTest, ALossIsReportedAfterAnotherWarning) {
  ASSERT_TRUE(memory_->append(session_.info.id, {user("old"), assistant("answer")}, {}));
  session_.info.head = Seq{2};
  store_.fails = [](int call) { return call >= 2; };
  Conversation conversation(provider_, &store_, session_, {.tools = &tools_});
  const auto outcome = conversation.ask("one", listener_);
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->saved);
  ASSERT_EQ(listener_.warnings.size(), 2U);
  EXPECT_NE(listener_.warnings.at(0).find("cannot be read"), std::string::npos);
  EXPECT_TRUE(listener_.warnings.at(1).starts_with("not saved: ")) << listener_.warnings.at(1);
}

// What was stored late has its position: a retry replaces its answer, and nothing before it.
TEST_F(StoreFailureTest, ARetryAfterALateSaveReplacesOneAnswer) {
  std::string story;
  for (int turn = 0; turn < 4; ++turn) {
    ASSERT_TRUE(memory_->append(session_.info.id, {user("q"), assistant("a")}, {}));
    story += "user: q | assistant: a | ";
  }
  session_.info.head = Seq{8};
  bool broken = false;
  store_.fails = [&broken](int) { return broken; };
  FakeProvider provider;
  provider.add().then([&broken] { broken = true; }).text("late").ended();
  provider.add().text("again").ended();
  provider.add().text("and again").ended();
  Conversation conversation(provider, &store_, session_, {});
  EXPECT_FALSE(conversation.ask("last", listener_)->saved);
  EXPECT_EQ(conversation.retry(listener_).error().code, Code::io) << "it is still unsaved";
  broken = false;
  for (const std::string_view answer : {"again", "and again"}) {
    const auto retried = conversation.retry(listener_);
    ASSERT_TRUE(retried) << retried.error().message;
    EXPECT_TRUE(retried->saved);
    EXPECT_EQ(stored(), cat(story, "user: last | assistant: ", answer));
  }
  EXPECT_EQ(*memory_->capabilities().rewriting->count_replaced(session_.info.id), 2);
}

TEST_F(StoreFailureTest, UnsavedMessagesAreStoredOnDemand) {
  bool broken = true;
  store_.fails = [&broken](int) { return broken; };
  Conversation conversation(provider_, &store_, session_, {.tools = &tools_});
  EXPECT_FALSE(conversation.ask("one", listener_)->saved);
  EXPECT_EQ(conversation.store_unsaved().error().code, Code::io);
  EXPECT_EQ(conversation.unsaved_messages()->size(), 4U);
  broken = false;
  EXPECT_TRUE(conversation.store_unsaved());
  EXPECT_TRUE(conversation.unsaved_messages()->empty());
  EXPECT_EQ(stored(), "user: one | assistant: call t1{} | tool: result t1=done | assistant: 1");
  EXPECT_TRUE(conversation.ask("two", listener_)->saved);
  EXPECT_EQ(spell(provider_.seen.back().messages),
            "user: one | assistant: call t1{} | user: result t1=done | assistant: 1 | user: two")
      << "each message once";
}

// The store already being answered by another process, which ends before anybody can look: the
// turn waits for it, as its question must be stored before it is sent.
TEST_F(StoreFailureTest, ABusyStoreIsAskedAgain) {
  store_.code = Code::busy;
  store_.fails = [](int call) { return call < 5; };
  const auto outcomes = three_turns();
  ASSERT_EQ(outcomes.size(), 3U);
  EXPECT_TRUE(outcomes.front().saved);
  EXPECT_EQ(stored(), kWholeStory);
}

TEST_F(StoreFailureTest, NothingIsSentWhileTheStoreIsBusy) {
  store_.code = Code::busy;
  store_.fails = [](int) { return true; };
  Conversation conversation(provider_, &store_, session_,
                            {.busy_timeout = std::chrono::milliseconds(20)});
  EXPECT_EQ(conversation.ask("one", listener_).error().code, Code::busy);
  EXPECT_TRUE(provider_.seen.empty());
  EXPECT_TRUE(conversation.unsaved_messages()->empty());
  store_.fails = [](int) { return false; };
  EXPECT_TRUE(conversation.ask("two", listener_)->saved);
}

TEST_F(StoreFailureTest, GoingOnAndRetryingWithAFailingStore) {
  for (int failing = 0; failing < 16; ++failing) {
    const bool retry = failing % 2 == 0;
    memory_ = open_memory_store();
    ASSERT_TRUE(memory_->create(session_));
    ASSERT_TRUE(memory_->append(session_.info.id, {user("q"), incomplete({text_of("ha")})}, {}));
    FaultyStore store(*memory_);
    store.fails = [failing](int call) { return call >= failing / 2; };
    FakeProvider provider;
    provider.reads_twice = false;
    provider.add().text("x").ended();
    {
      Conversation conversation(provider, &store, session_, {});
      const auto outcome =
          retry ? conversation.retry(listener_) : conversation.continue_turn(listener_);
      EXPECT_TRUE(outcome || outcome.error().code == Code::io ||
                  outcome.error().code == Code::unsupported ||
                  outcome.error().code == Code::invalid_argument)
          << failing << outcome.error().message;
      store.fails = [](int) { return false; };
    }
    EXPECT_TRUE(stored().starts_with("user: q | assistant: ")) << stored();
    EXPECT_FALSE(memory_->capabilities().partials->find_partial(session_.info.id)->has_value())
        << failing;
  }
}

}  // namespace
}  // namespace reprise
