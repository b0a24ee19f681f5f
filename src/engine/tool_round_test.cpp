// Tool calls within a turn.

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <latch>
#include <stdexcept>

#include "engine/reply.h"
#include "engine/testing/fake_provider.h"
#include "engine/testing/messages.h"
#include "reprise/capabilities.h"
#include "reprise/conversation.h"
#include "reprise/open_store.h"

namespace reprise {
namespace {

class ToolRoundTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(store_->create(session_));
    add("echo", [](const ToolContext&, const RawJson& input) -> Result<ToolOutput> {
      return ToolOutput{input.text()};
    });
    options_.tools = &tools_;
  }
  void add(std::string_view name, ToolFunction run) {
    ASSERT_TRUE(tools_.add({{std::string(name), "", *RawJson::parse("{}")}, std::move(run)}));
  }
  Result<Outcome> ask() {
    Conversation conversation(provider_, store_.get(), session_, options_);
    return conversation.ask("q", listener_, stop_.get_token());
  }
  std::string stored() { return spell(*read_all(*store_, session_.info.id)); }
  bool is_running() {
    return store_->capabilities().partials->find_partial(session_.info.id)->has_value();
  }

  std::unique_ptr<Store> store_ = open_memory_store();
  Session session_ = make_session("s1");
  FakeProvider provider_;
  ToolRegistry tools_;
  ConversationOptions options_;
  RecordingObserver listener_;
  std::stop_source stop_;
};

// A proxy may report another model's name.
TEST_F(ToolRoundTest, ThinkingIsSentWithItsCallIfTheModelHasAnotherName) {
  options_.model = "ours";
  provider_.add()
      .started("r1", "theirs")
      .thinking("hm", "sig")
      .call("t1", "echo", "{}")
      .ended(StopReason::tool_use);
  provider_.add().text("done").ended();
  ASSERT_TRUE(ask());
  EXPECT_EQ(spell(provider_.seen.at(1).messages),
            "user: q | assistant: (hm) call t1{} | user: result t1={}");
}

TEST_F(ToolRoundTest, ACallItsResultAndTheAnswer) {
  add("lease", [this](const ToolContext& context, const RawJson&) -> Result<ToolOutput> {
    EXPECT_TRUE(is_running());  // no other process may answer meanwhile
    EXPECT_EQ(context.session.info.id, session_.info.id);
    return ToolOutput{"held", true};
  });
  provider_.add().text("let me see").call("t1", "echo", R"({"n":1.0})").ended(StopReason::tool_use);
  provider_.add().call("t2", "lease", "").ended();
  provider_.add().text("done").ended();
  ASSERT_TRUE(ask());
  EXPECT_EQ(stored(),
            "user: q | assistant: let me see call t1{\"n\":1.0} | tool: result t1={\"n\":1.0} | "
            "assistant: call t2{} | tool: error t2=held | assistant: done");
  EXPECT_EQ(listener_.calls, (std::vector<std::string>{"t1", "t2"}));
  EXPECT_EQ(listener_.results.size(), 2U);
  EXPECT_EQ(listener_.messages.size(), 5U);
  EXPECT_EQ(provider_.seen.at(0).tools.size(), 2U);
  EXPECT_FALSE(is_running());
}

constexpr std::string_view kServerTool = R"({"type":"server_tool_use","id":"s1","name":"find"})";

TEST_F(ToolRoundTest, APausedAnswerIsContinued) {
  provider_.add().raw(kServerTool).ended(StopReason::paused);
  provider_.add().text("found").ended();
  const auto outcome = ask();
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->error);
  EXPECT_EQ(stored(), cat("user: q | assistant: raw ", kServerTool, " | assistant: found"));
  EXPECT_EQ(spell(provider_.seen.at(1).messages), cat("user: q | assistant: raw ", kServerTool));
  EXPECT_TRUE(listener_.results.empty());
  EXPECT_FALSE(is_running());
}

TEST_F(ToolRoundTest, PausesAreLimited) {
  provider_.add().raw(kServerTool).ended(StopReason::paused);
  const auto outcome = ask();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(provider_.seen.size(), 1U + kPausesMax);
  EXPECT_EQ(outcome->answer.state, MessageState::incomplete);
  EXPECT_EQ(listener_.warnings.size(), 1U);
  EXPECT_FALSE(is_running());
}

TEST_F(ToolRoundTest, EightCallsRunInParallel) {
  std::latch all(8);
  add("meet", [&all](const ToolContext&, const RawJson&) -> Result<ToolOutput> {
    all.arrive_and_wait();  // blocks unless all eight run concurrently
    return ToolOutput{"met"};
  });
  Script& script = provider_.add();
  for (const std::string_view id : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    script.call(id, "meet", "{}");
  }
  script.ended();
  provider_.add().text("done").ended();
  ASSERT_TRUE(ask());
  EXPECT_EQ(listener_.results.size(), 8U);
}

TEST_F(ToolRoundTest, MoreCallsThanThreadsAllRun) {
  std::atomic<int> ran = 0;
  add("count", [&ran](const ToolContext&, const RawJson&) -> Result<ToolOutput> {
    ++ran;
    return ToolOutput{};
  });
  Script& script = provider_.add();
  for (int i = 0; i < 30; ++i) {
    script.call("t" + std::to_string(i), "count", "{}");
  }
  script.ended();
  provider_.add().text("done").ended();
  ASSERT_TRUE(ask());
  EXPECT_EQ(ran, 30);
  EXPECT_EQ(listener_.results.size(), 30U);
}

// No thread can be created with such a stack.
TEST_F(ToolRoundTest, CallsRunWithoutThreads) {
  constexpr std::size_t kImpossible = std::size_t{1} << 60U;
  pthread_attr_t usual;
  pthread_attr_t impossible;
  ASSERT_EQ(::pthread_getattr_default_np(&usual), 0);
  ASSERT_EQ(::pthread_getattr_default_np(&impossible), 0);
  ASSERT_EQ(::pthread_attr_setstacksize(&impossible, kImpossible), 0);
  options_.approver = [&](const ToolUseBlock&) {
    EXPECT_EQ(::pthread_setattr_default_np(&impossible), 0);
    return Approval::allow;
  };
  int ran = 0;
  add("count", [&](const ToolContext&, const RawJson&) -> Result<ToolOutput> {
    EXPECT_EQ(::pthread_setattr_default_np(&usual), 0);
    ++ran;  // unguarded: there is one thread
    return ToolOutput{};
  });
  provider_.add().call("t1", "count", "{}").call("t2", "count", "{}").ended();
  provider_.add().text("done").ended();
  EXPECT_TRUE(ask());
  EXPECT_EQ(::pthread_setattr_default_np(&usual), 0);
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(listener_.results.size(), 2U);
}

TEST_F(ToolRoundTest, AnImpossibleCallGetsAnErrorResult) {
  add("throws", [](const ToolContext&, const RawJson&) -> Result<ToolOutput> {
    throw std::runtime_error("broken");
  });
  add("fails", [](const ToolContext&, const RawJson&) -> Result<ToolOutput> {
    return fail(Code::io, "no disk");
  });
  provider_.add()
      .call("a", "unknown", "{}")
      .call("b", "echo", R"({"broken)")
      .call("c", "throws", "{}")
      .call("d", "fails", "{}")
      .call("e", "echo", "[1]")
      .call("f", "echo", R"("{\"a\":1}")")
      .call("g", "echo", "null")
      .ended();
  provider_.add().text("done").ended();
  ASSERT_TRUE(ask());
  const std::string sent = spell(provider_.seen.at(1).messages);
  EXPECT_NE(sent.find("error a=unknown tool \"unknown\"; the tools are: echo, fails, throws"),
            std::string::npos)
      << sent;
  EXPECT_NE(sent.find("error b=the input of echo is not a JSON object"), std::string::npos);
  EXPECT_NE(sent.find("error c=throws failed: broken"), std::string::npos);
  EXPECT_NE(sent.find("error d=no disk"), std::string::npos);
  EXPECT_NE(sent.find("error e=the input of echo is not a JSON object"), std::string::npos);
  EXPECT_NE(sent.find("error f=the input of echo is not a JSON object"), std::string::npos);
  EXPECT_NE(sent.find("error g=the input of echo is not a JSON object"), std::string::npos);
  EXPECT_NE(stored().find(R"(call b"{\"broken")"), std::string::npos);  // preserved as written
}

TEST_F(ToolRoundTest, TheApproverAndTheHooksDecide) {
  options_.approver = [](const ToolUseBlock& call) {
    return call.id == "a" ? Approval::deny : Approval::allow;
  };
  options_.hooks.before = [](const ToolUseBlock& call) {
    return call.id == "b" ? Result<>(fail(Code::invalid_argument, "not now")) : Result<>();
  };
  std::vector<std::string> after;
  options_.hooks.after = [&after](const ToolUseBlock& call, const ToolResultBlock&) {
    after.push_back(call.id);
  };
  provider_.add().call("a", "echo", "").call("b", "echo", "").call("c", "echo", "").ended();
  provider_.add().text("done").ended();
  ASSERT_TRUE(ask());
  EXPECT_EQ(spell(provider_.seen.at(1).messages),
            "user: q | assistant: call a{} call b{} call c{} | user: error a=the call of echo was "
            "denied error b=not now result c={}");
  EXPECT_EQ(after, std::vector<std::string>{"c"});
}

TEST_F(ToolRoundTest, NoToolsAtAll) {
  options_.tools = nullptr;
  provider_.add().call("a", "echo", "").ended();
  provider_.add().text("done").ended();
  ASSERT_TRUE(ask());
  EXPECT_NE(stored().find("there are no tools"), std::string::npos);
}

TEST_F(ToolRoundTest, WithoutToolsThereAreTwoRounds) {
  const ToolRegistry none;
  options_.tools = &none;
  provider_.add().call("a", "echo", "").ended();
  ASSERT_TRUE(ask());
  EXPECT_EQ(provider_.seen.size(), 3U);  // two rounds, and the answer after them
  EXPECT_EQ(listener_.results.size(), 2U);
  EXPECT_FALSE(is_running());
}

TEST_F(ToolRoundTest, TheRoundsAreLimited) {
  options_.tool_rounds_max = 2;
  provider_.add().call("a", "echo", "").ended();
  const auto outcome = ask();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(provider_.seen.size(), 4U);  // two rounds, the refused one, and the answer after it
  EXPECT_EQ(listener_.warnings.size(), 1U);
  EXPECT_FALSE(is_running());
  EXPECT_EQ(listener_.results.size(), 3U);
  EXPECT_TRUE(listener_.results.back().is_error);
}

TEST_F(ToolRoundTest, AStopBetweenToolsLeavesLaterCallsUnanswered) {
  add("stops", [this](const ToolContext& context, const RawJson&) -> Result<ToolOutput> {
    stop_.request_stop();
    EXPECT_TRUE(context.stop.stop_requested());
    return ToolOutput{"last words"};
  });
  Script& script = provider_.add();
  script.call("a", "stops", "").ended();
  const auto outcome = ask();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error->code, Code::cancelled);
  EXPECT_EQ(stored(), "user: q | assistant: call a{} | tool: result a=last words");
  EXPECT_FALSE(is_running());
}

TEST_F(ToolRoundTest, AProviderFailureAfterToolsKeepsTheirResults) {
  provider_.add().call("a", "echo", "").ended();
  provider_.add().fails(Code::io);
  const auto outcome = ask();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error->code, Code::io);
  EXPECT_EQ(stored(), "user: q | assistant: call a{} | tool: result a={}");
  EXPECT_FALSE(is_running());
}

TEST_F(ToolRoundTest, LargeOutputBecomesABlob) {
  const std::string large(100'000, 'x');
  add("large", [&large](const ToolContext&, const RawJson&) -> Result<ToolOutput> {
    return ToolOutput{large};
  });
  add("bytes",
      [](const ToolContext&, const RawJson&) -> Result<ToolOutput> { return ToolOutput{"\xFF!"}; });
  provider_.add().call("a", "large", "").ended();
  provider_.add().call("b", "bytes", "").ended();
  provider_.add().text("done").ended();
  ASSERT_TRUE(ask());
  ASSERT_EQ(listener_.results.size(), 2U);
  EXPECT_TRUE(listener_.results.at(0).blob);
  EXPECT_TRUE(listener_.results.at(0).text.ends_with(
      "[the first 4096 of 100000 bytes; the rest is kept as a blob]"));
  EXPECT_EQ(listener_.results.at(1).text, "\xEF\xBF\xBD!");
  const auto& sent = provider_.seen.at(1).messages.back().blocks.at(0);
  EXPECT_EQ(std::get<ToolResultBlock>(sent).text, large);
}

TEST_F(ToolRoundTest, ResultsGoToTheResponseThatAsked) {
  provider_.stores = true;
  provider_.add().started("r1").call("a|1", "echo", "").ended();
  provider_.add().started("r2").text("done").ended();
  ASSERT_TRUE(ask());
  EXPECT_EQ(provider_.seen.at(1).previous_response_id, "r1");
  EXPECT_EQ(spell(provider_.seen.at(1).messages), "user: result a|1={}");
}

TEST(ToolRegistry, RejectsWhatNoProviderAccepts) {
  ToolRegistry tools;
  const auto run = [](const ToolContext&, const RawJson&) -> Result<ToolOutput> {
    return ToolOutput{};
  };
  const RawJson object = *RawJson::parse("{}");
  EXPECT_TRUE(tools.empty());
  EXPECT_TRUE(tools.add({{"a", "", object}, run}));
  EXPECT_EQ(tools.add({{"a", "", object}, run}).error().code, Code::conflict);
  for (const std::string& name : {std::string(), std::string("a b"), std::string(65, 'a')}) {
    EXPECT_EQ(tools.add({{name, "", object}, run}).error().code, Code::invalid_argument);
  }
  EXPECT_EQ(tools.add({{"b", "", RawJson()}, run}).error().code, Code::invalid_argument);
  EXPECT_EQ(tools.add({{"b", "", object}, nullptr}).error().code, Code::invalid_argument);
  EXPECT_EQ(tools.find("b"), nullptr);
}

TEST(ToolInput, FromTheModelsText) {
  EXPECT_EQ(input_from_text(" ").text(), "{}");
  EXPECT_EQ(input_from_text(R"({"a":1.0})").text(), R"({"a":1.0})");
  EXPECT_EQ(input_from_text(R"({"a)").text(), R"("{\"a")");
}

}  // namespace
}  // namespace reprise
