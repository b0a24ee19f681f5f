// Tests of turns: consent to tool calls, usage, how they end, and changes between them.

#include <gtest/gtest.h>

#include "cli/app/testing/state.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

TEST(Consent, AsksWhetherAToolMayRun) {
  State state = open_state();
  enter(state, "question");
  update(state, ConsentRequest{{1}, 7, "Run todo_write {}?"});
  const auto answer = only<AnswerConsent>(type(state, "a"));
  EXPECT_EQ(answer.number, 7);
  EXPECT_EQ(answer.choice, Choice::always);
}

TEST(Consent, HoldsForTheSessionByDefault) {
  for (const auto& [typed, choice] :
       {std::pair("y", Choice::yes), {"o", Choice::once}, {"n", Choice::no}}) {
    State state = open_state();
    enter(state, "question");
    update(state, ConsentRequest{{1}, 7, "Run read_file {}?"});
    EXPECT_NE(shown(state).find("o: once"), std::string::npos);
    EXPECT_EQ(only<AnswerConsent>(type(state, typed)).choice, choice);
  }
}

// An "a" within a word does not mean "always".
TEST(Consent, IgnoresLettersOfAMessage) {
  State state = open_state();
  enter(state, "question");
  type(state, "I h");
  update(state, ConsentRequest{{1}, 7, "Run write_file {}?"});
  EXPECT_TRUE(type(state, "a").empty());
  update(state, Ticked{state.now + std::chrono::milliseconds(900)});
  EXPECT_TRUE(type(state, "y").empty());
  EXPECT_TRUE(key(state, "Backspace").empty());
  EXPECT_EQ(state.input().text(), "I ha");
  ASSERT_EQ(state.dialogs.size(), 1U);
  update(state, Ticked{state.now + std::chrono::milliseconds(1100)});
  EXPECT_EQ(only<AnswerConsent>(key(state, "Enter")).number, 7);
  EXPECT_EQ(state.input().text(), "I ha");
}

TEST(Consent, AllowsScrollingBeforeTheAnswer) {
  State state = open_state();
  enter(state, "question");
  update(state, ToolCalled{{1}, {"1", "write_file", *RawJson::parse(R"({"path":"b"})"), {}}});
  for (int i = 0; i < 30; ++i) {
    state.tabs[0].entries.push_back({.text = "line"});
  }
  update(state, ConsentRequest{{1}, 7, "Run write_file {}?"});
  key(state, "Ctrl-T");
  key(state, "Ctrl-Home");
  EXPECT_NE(shown(state).find("  ▾ write_file runs\n    {\"path\":\"b\"}\n"), std::string::npos)
      << shown(state);
  EXPECT_EQ(only<AnswerConsent>(key(state, "Esc")).choice, Choice::no);
}

TEST(Turn, SumsTheUsageOfATurn) {
  State state = open_state();
  enter(state, "question");
  AnswerStored answer{.tab = {1},
                      .model = "m",
                      .usage = Usage{.input = {100}, .output = {10}, .cost = Money::parse("0.01")},
                      .at = state.now,
                      .calls_tools = true};
  update(state, answer);
  answer.calls_tools = false;
  answer.usage = Usage{.input = {200}, .output = {20}, .cost = Money::parse("0.02")};
  update(state, answer);
  EXPECT_EQ(state.tab()->last_input, 200);
  EXPECT_EQ(state.tab()->entries.back().text, "question");  // a command might have to wait
  update(state, TurnEnded{.tab = {1}, .metadata = some_metadata()});
  EXPECT_EQ(state.tab()->entries.back().text, "m · 300 in, 30 out · $0.03");
  enter(state, "next");
  update(state, answer);
  update(state, TurnEnded{.tab = {1}, .metadata = some_metadata()});
  EXPECT_EQ(state.tab()->entries.back().text, "m · 200 in, 20 out · $0.02");
}

TEST(Turn, ReportsAStoppedAnswer) {
  State state = open_state();
  enter(state, "question");
  update(state, TurnEnded{.tab = {1},
                          .metadata = some_metadata(),
                          .failure = "stopped",
                          .stopped = true,
                          .arrived = false,
                          .advice = "/go-on asks again"});
  EXPECT_EQ(state.tab()->entries.back().text, "stopped before anything arrived; /go-on asks again");
  enter(state, "again");
  update(state, TurnEnded{.tab = {1},
                          .metadata = some_metadata(),
                          .failure = "api.test is limiting requests (429)",
                          .arrived = false});
  EXPECT_EQ(state.tab()->entries.back().text, "api.test is limiting requests (429)");
}

// The store still has it.
TEST(Turn, ShowsTheOldAnswerIfARetryGetsNone) {
  State state = open_state();
  enter(state, "question");
  update(state, TextReceived{{1}, "an answer"});
  update(state, TurnEnded{.tab = {1}, .metadata = some_metadata()});
  enter(state, "/retry");
  EXPECT_EQ(shown(state).find("an answer"), std::string::npos);
  update(
      state,
      TurnEnded{
          .tab = {1}, .metadata = some_metadata(), .failure = "try again later", .arrived = false});
  const std::string screen = shown(state);
  EXPECT_LT(screen.find("an answer"), screen.find("! try again later")) << screen;
  enter(state, "/retry");
  update(state, TextReceived{{1}, "a better one"});
  update(state, TurnEnded{.tab = {1}, .metadata = some_metadata()});
  EXPECT_EQ(shown(state).find("an answer"), std::string::npos);
}

TEST(Turn, KeepsNoticesWhenThereIsNothingToRetry) {
  State state = open_state();
  update(state, Announcement{Announcement::Kind::notice, TabId{1}, "a notice"});
  enter(state, "/retry");
  EXPECT_NE(shown(state).find("a notice"), std::string::npos);
}

TEST(Turn, CountsARequestOnce) {
  State state = open_state();
  enter(state, "question");
  AnswerStored answer{.tab = {1},
                      .model = "m",
                      .usage = Usage{.input = {100}, .output = {10}, .request_id = "r1"},
                      .at = state.now,
                      .calls_tools = true};
  update(state, answer);
  answer.calls_tools = false;
  update(state, answer);
  update(state, TurnEnded{.tab = {1}, .metadata = some_metadata()});
  EXPECT_EQ(state.tab()->entries.back().text, "m · 100 in, 10 out");
  update(state, TabChanged{.tab = {1},
                           .metadata = some_metadata(),
                           .history_changed = true,
                           .counted_requests = {"r2"}});
  answer.usage->request_id = "r2";
  update(state, answer);
  update(state, TurnEnded{.tab = {1}, .metadata = some_metadata()});
  EXPECT_EQ(state.tab()->entries.back().text, "m");
}

TEST(Consent, NamesTheOriginOfTheTool) {
  State state = open_state();
  enter(state, "/session new /b");
  update(state, ConsentRequest{{1}, 7, "Run todo_write {}?"});
  EXPECT_EQ(state.dialogs.front().question, "reprise: Run todo_write {}?");
}

TEST(Update, ChecksForOtherProgramsChanges) {
  using std::chrono::milliseconds;
  State state = open_state();
  const auto checks = [&state](milliseconds later) {
    return update(state, Ticked{state.now + later}).size();
  };
  EXPECT_EQ(only<CheckChanges>(update(state, Ticked{state.now + milliseconds(2000)})).tab,
            state.tabs[0].id);
  EXPECT_EQ(checks(milliseconds(1999)), 0U);
  EXPECT_EQ(checks(milliseconds(1)), 1U);
  state.tabs[0].top = Anchor{};  // earlier messages are being read
  EXPECT_EQ(checks(milliseconds(2000)), 0U);
  state.tabs[0].top.reset();
  enter(state, "question");
  EXPECT_EQ(checks(milliseconds(2000)), 0U);
  // What was found meanwhile does not remove the question.
  TabChanged changed{.tab = state.tabs[0].id, .metadata = {}, .by_others = true};
  changed.history_changed = true;
  update(state, changed);
  EXPECT_NE(shown(state).find("question"), std::string::npos);
  update(state, end_of(state));
  EXPECT_TRUE(only<CheckChanges>(update(state, Ticked{state.now})).missed);
  EXPECT_FALSE(only<CheckChanges>(update(state, Ticked{state.now + milliseconds(2000)})).missed);
  update(state, changed);
  EXPECT_EQ(shown(state).find("question"), std::string::npos) << shown(state);
}

TEST(Update, StopsAnAnswerToAMessageSentAfterCtrlC) {
  State state = open_state();
  EXPECT_TRUE(key(state, "Ctrl-C").empty());
  enter(state, "question");
  EXPECT_EQ(only<StopTurn>(key(state, "Ctrl-C")).tab, state.tabs[0].id);
}

TEST(Update, ReportsQueuedQuestionsWhenQuitting) {
  State state = open_state();
  enter(state, "one");
  enter(state, "two");
  enter(state, "/quit");
  TurnEnded end = end_of(state);
  end.stopped = true;
  state.tabs[0].phase = Tab::Phase::closing;
  update(state, end);
  update(state, AllClosed{});
  ASSERT_FALSE(state.late_warnings.empty());
  EXPECT_TRUE(state.late_warnings.back().starts_with("not sent: two"))
      << state.late_warnings.back();
}

}  // namespace
}  // namespace reprise::cli::app
