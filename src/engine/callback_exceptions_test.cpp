// Exceptions from callbacks: the turn ends, what has arrived is stored, the session can be used
// again.

#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include "base/text.h"
#include "engine/builtin_tools.h"
#include "engine/testing/fake_provider.h"
#include "engine/testing/messages.h"
#include "reprise/capabilities.h"
#include "reprise/conversation.h"
#include "reprise/open_store.h"

namespace reprise {
namespace {

// Throws an int, which no handler of std::exception catches, in the callback with that name.
struct ThrowPoint {
  std::string_view name;
  void reached(std::string_view callback) const {
    if (callback == name) {
      throw 42;
    }
  }
};

class ThrowingObserver final : public TurnObserver {
 public:
  explicit ThrowingObserver(const ThrowPoint& throw_point) : throw_point_(throw_point) {}
  void on_text(std::string_view) override { throw_point_.reached("on_text"); }
  void on_thinking(std::string_view) override { throw_point_.reached("on_thinking"); }
  void on_tool_call(const ToolUseBlock&) override { throw_point_.reached("on_tool_call"); }
  void on_tool_result(const ToolResultBlock&) override { throw_point_.reached("on_tool_result"); }
  void on_message(const Message&) override { throw_point_.reached("on_message"); }
  void on_usage(const Usage&) override { throw_point_.reached("on_usage"); }
  void on_warning(std::string_view) override { throw_point_.reached("on_warning"); }
  void on_note(std::string_view) override { throw_point_.reached("on_note"); }

 private:
  const ThrowPoint& throw_point_;
};

struct ExceptionCase {
  std::string_view callback;
  std::string_view stored;  // the session afterwards
};

class CallbackException : public testing::TestWithParam<ExceptionCase> {};

TEST_P(CallbackException, EndsTheTurnAndStoresTheAnswerSoFar) {
  const ThrowPoint throw_point{GetParam().callback};
  const auto store = open_memory_store();
  const Session session = make_session("s1");
  ASSERT_TRUE(store->create(session));
  ToolRegistry tools;
  ASSERT_TRUE(tools.add(
      {{"t", "", *RawJson::parse("{}")},
       [](const ToolContext&, const RawJson&) -> Result<ToolOutput> { return ToolOutput{"ok"}; }}));
  ConversationOptions options;
  options.tools = &tools;
  options.approver = [&](const ToolUseBlock&) {
    throw_point.reached("approver");
    return Approval::allow;
  };
  options.hooks.before = [&](const ToolUseBlock&) -> Result<> {
    throw_point.reached("before");
    return {};
  };
  options.hooks.after = [&](const ToolUseBlock&, const ToolResultBlock&) {
    throw_point.reached("after");
  };
  FakeProvider provider;
  provider.add()
      .then([&] { throw_point.reached("provider at once"); })
      .retrying({Code::io, "lost"}, std::chrono::milliseconds(1))
      .retrying({Code::io, "lost"}, std::chrono::minutes(1))
      .thinking("hm")
      .text("let me")
      .then([&] { throw_point.reached("provider"); })
      .text(" see")
      .call("t1", "t", "{}")
      .usage(1, 2, "r1")
      .ended(StopReason::tool_use);
  provider.add().text("done").ended();
  Conversation conversation(provider, store.get(), session, options);

  ThrowingObserver observer(throw_point);
  EXPECT_THROW((void)conversation.ask("q", observer), int);
  EXPECT_FALSE(store->capabilities().partials->find_partial(session.info.id)->has_value());
  const std::vector<Message> stored = *read_all(*store, session.info.id);
  const bool is_cut = stored.back().state == MessageState::incomplete;
  EXPECT_EQ(cat(spell(stored), is_cut ? ", cut" : ""), GetParam().stored);
  // The conversation continues, with this object and with another one.
  provider.scripts.clear();
  provider.add().text("again").ended();
  RecordingObserver listener;
  EXPECT_TRUE(conversation.ask("once more", listener));
  EXPECT_EQ(listener.text, "again");
  EXPECT_TRUE(Conversation(provider, store.get(), session, options).ask("and more", listener));
}

constexpr std::string_view kQuestion = "user: q";
constexpr std::string_view kCalled = "user: q | assistant: (hm) let me see call t1{}";
constexpr std::string_view kAnswered =
    "user: q | assistant: (hm) let me see call t1{} | tool: result t1=ok";

INSTANTIATE_TEST_SUITE_P(
    All, CallbackException,
    testing::Values(ExceptionCase{"provider at once", kQuestion},
                    ExceptionCase{"provider", "user: q | assistant: (hm) let me, cut"},
                    ExceptionCase{"on_note", kQuestion}, ExceptionCase{"on_warning", kQuestion},
                    ExceptionCase{"on_thinking", "user: q | assistant: (hm), cut"},
                    ExceptionCase{"on_text", "user: q | assistant: (hm) let me, cut"},
                    ExceptionCase{"on_usage", kCalled}, ExceptionCase{"on_message", kCalled},
                    ExceptionCase{"on_tool_call", kCalled}, ExceptionCase{"approver", kCalled},
                    ExceptionCase{"before", kCalled}, ExceptionCase{"after", kCalled},
                    ExceptionCase{"on_tool_result", kCalled}),
    [](const auto& instance) {
      std::string name(instance.param.callback);
      for (char& c : name) {
        c = c == ' ' ? '_' : c;
      }
      return name;
    });

TEST(ToolException, OfAnyTypeIsAnErrorResult) {
  const auto store = open_memory_store();
  const Session session = make_session("s1");
  ASSERT_TRUE(store->create(session));
  ToolRegistry tools;
  ASSERT_TRUE(
      tools.add({{"t", "", *RawJson::parse("{}")},
                 [](const ToolContext&, const RawJson&) -> Result<ToolOutput> { throw 42; }}));
  ConversationOptions options;
  options.tools = &tools;
  FakeProvider provider;
  provider.add().call("t1", "t", "{}").ended(StopReason::tool_use);
  provider.add().text("done").ended();
  RecordingObserver listener;
  ASSERT_TRUE(Conversation(provider, store.get(), session, options).ask("q", listener));
  ASSERT_EQ(listener.results.size(), 1U);
  EXPECT_TRUE(listener.results.front().is_error);
  EXPECT_EQ(listener.results.front().text, "t failed with an exception of an unknown type");
}

// The tool ignores the stop request: the turn ends without it, and it may end long after.
TEST(DeafTool, IsAbandonedAfterItsTimeout) {
  const auto store = open_memory_store();
  const Session session = make_session("s1");
  ASSERT_TRUE(store->create(session));
  std::stop_source stop;
  const auto release = std::make_shared<std::latch>(1);
  const auto ended = std::make_shared<std::latch>(1);
  RecordingObserver listener;
  {
    ToolRegistry tools;
    const auto deaf = [&stop, release, ended](const ToolContext& context,
                                              const RawJson&) -> Result<ToolOutput> {
      stop.request_stop();
      release->wait();
      EXPECT_EQ(context.session.info.id.str(), "s1");
      ended->count_down();
      return ToolOutput{"late"};
    };
    ASSERT_TRUE(tools.add({.spec = {"t", "", *RawJson::parse("{}")},
                           .run = deaf,
                           .stop_timeout = std::chrono::milliseconds(30)}));
    ConversationOptions options;
    options.tools = &tools;
    FakeProvider provider;
    provider.add().call("t1", "t", "{}").ended(StopReason::tool_use);
    const auto outcome =
        Conversation(provider, store.get(), session, options).ask("q", listener, stop.get_token());
    ASSERT_TRUE(outcome);
    ASSERT_TRUE(outcome->error.has_value());
    EXPECT_EQ(outcome->error->code, Code::cancelled);
  }
  ASSERT_EQ(listener.results.size(), 1U);
  EXPECT_EQ(listener.results.front().text, "t did not stop within 30 ms");
  release->count_down();  // its registry and its conversation have been destroyed
  ended->wait();
}

TEST(DeafTool, IsWaitedForIfItUsesTheStore) {
  const auto store = open_memory_store();
  const Session session = make_session("s1");
  ASSERT_TRUE(store->create(session));
  std::stop_source stop;
  ToolRegistry tools;
  for (const Tool& tool : {make_recall_tool(), make_recall_all_tool(), make_todo_write_tool()}) {
    EXPECT_FALSE(tool.stop_timeout) << tool.spec.name;
  }
  Tool recall = make_recall_tool();
  recall.run = [&stop](const ToolContext& context, const RawJson&) -> Result<ToolOutput> {
    stop.request_stop();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    return ToolOutput{context.store->list({})->sessions.at(0).id.str()};
  };
  ASSERT_TRUE(tools.add(recall));
  FakeProvider provider;
  provider.add().call("t1", "recall", "{}").ended(StopReason::tool_use);
  RecordingObserver listener;
  ASSERT_TRUE(Conversation(provider, store.get(), session, {.tools = &tools})
                  .ask("q", listener, stop.get_token()));
  ASSERT_EQ(listener.results.size(), 1U);
  EXPECT_EQ(listener.results.front().text, "s1");
}

// A stream without an end event is incomplete, even if stream() succeeds.
TEST(ReplyWithoutAnEnd, IsIncomplete) {
  const auto store = open_memory_store();
  const Session session = make_session("s1");
  ASSERT_TRUE(store->create(session));
  FakeProvider provider;
  provider.add().text("half a sto");
  RecordingObserver listener;
  const auto outcome = Conversation(provider, store.get(), session, {}).ask("q", listener);
  ASSERT_TRUE(outcome);
  ASSERT_TRUE(outcome->error.has_value());
  EXPECT_EQ(outcome->answer.state, MessageState::incomplete);
  EXPECT_EQ(read_all(*store, session.info.id)->back().state, MessageState::incomplete);
}

}  // namespace
}  // namespace reprise
