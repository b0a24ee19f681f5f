#include "cli/app/update.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/app/testing/state.h"

namespace reprise::cli::app {
namespace {

TEST(Update, OpensANewSessionIfThereIsNone) {
  State state = empty_state();
  EXPECT_TRUE(std::holds_alternative<FindNewest>(begin(state, {}).front()));
  const Effects effects = update(state, NewestFound{});
  EXPECT_EQ(only<OpenNew>(effects).tab, TabId{1});
}

TEST(Update, OffersTheSessionOfTheFolder) {
  State state = empty_state();
  EXPECT_TRUE(update(state, NewestFound{some_session()}).empty());
  ASSERT_EQ(state.dialogs.size(), 1U);
  EXPECT_NE(state.dialogs[0].question.find("Resume 'An old chat' (4 messages, "),
            std::string::npos);
  EXPECT_EQ(only<OpenSession>(key(state, "Enter")).sel, some_session().id.str());

  State other = empty_state();
  update(other, NewestFound{some_session()});
  EXPECT_EQ(only<OpenNew>(key(other, "Esc")).tab, TabId{1});
}

TEST(Update, SendsAMessageAndStreamsItsAnswer) {
  State state = open_state();
  const Effects effects = enter(state, "hello");
  EXPECT_EQ(only<Ask>(effects).text, "hello");
  const Tab& tab = state.tabs.front();
  EXPECT_EQ(tab.phase, Tab::Phase::answering);
  update(state, TextReceived{tab.id, "Hel"});
  update(state, TextReceived{tab.id, "lo"});
  ASSERT_EQ(tab.entries.size(), 2U);
  EXPECT_EQ(tab.entries[1].text, "Hello");
  update(state, AnswerStored{.tab = tab.id, .model = "m", .usage = {}, .at = state.now});
  update(state, end_of(state));
  EXPECT_EQ(tab.phase, Tab::Phase::idle);
  EXPECT_TRUE(tab.entries[1].ended);
}

TEST(Update, QueuesQuestionsDuringAnAnswer) {
  State state = open_state();
  enter(state, "one");
  EXPECT_TRUE(enter(state, "two").empty());
  update(state, TextReceived{state.tabs[0].id, "answer"});
  EXPECT_EQ(state.tabs[0].entries.back().kind, Entry::Kind::waiting);
  EXPECT_EQ(only<Ask>(update(state, end_of(state))).text, "two");
  EXPECT_EQ(state.tabs[0].entries.back().kind, Entry::Kind::question);
}

TEST(Update, ReturnsQueuedQuestionsWhenTheAnswerIsStopped) {
  State state = open_state();
  enter(state, "one");
  enter(state, "two");
  EXPECT_EQ(only<StopTurn>(key(state, "Ctrl-C")).tab, state.tabs[0].id);
  TurnEnded end = end_of(state);
  end.stopped = true;
  EXPECT_TRUE(update(state, end).empty());
  EXPECT_EQ(state.input().text(), "two");
}

TEST(Update, QuitsAtTheSecondCtrlCWithinTwoSeconds) {
  State state = open_state();
  type(state, "draft");
  EXPECT_TRUE(key(state, "Ctrl-C").empty());
  EXPECT_TRUE(state.input().empty());
  update(state, Ticked{state.now + std::chrono::seconds(3)});
  EXPECT_TRUE(key(state, "Ctrl-C").empty());
  EXPECT_FALSE(only<CloseAll>(key(state, "Ctrl-C")).interrupted);
  EXPECT_TRUE(state.leaving);
  EXPECT_TRUE(std::holds_alternative<CancelPending>(key(state, "Ctrl-C").front()));
  update(state, AllClosed{});
  EXPECT_TRUE(state.over);
  EXPECT_TRUE(state.interrupted);
}

TEST(Update, OpensNothingWhileQuitting) {
  State state = empty_state();
  EXPECT_FALSE(only<CloseAll>(key(state, "Ctrl-D")).interrupted);
  EXPECT_TRUE(state.leaving);
  EXPECT_TRUE(update(state, NewestFound{}).empty());
  EXPECT_TRUE(state.tabs.empty());
}

TEST(Update, LeavesSessionsOpenAfterASignal) {
  State state = open_state();
  EXPECT_TRUE(only<CloseAll>(update(state, Signalled{})).interrupted);
}

TEST(Update, ContinuesALineAfterABackslash) {
  State state = open_state();
  EXPECT_TRUE(enter(state, "a\\").empty());
  EXPECT_EQ(only<Ask>(enter(state, "b")).text, "a\nb");
}

TEST(Update, SendsAPasteAsOneMessage) {
  State state = open_state();
  EXPECT_TRUE(update(state, Pasted{"one\ntwo\n"}).empty());
  EXPECT_EQ(only<Ask>(key(state, "Enter")).text, "one\ntwo\n");
}

TEST(Update, OpensAtMostTenSessions) {
  State state = open_state();
  for (int i = 2; i <= 10; ++i) {
    EXPECT_EQ(only<OpenNew>(enter(state, "/session new /p")).tab, TabId{i});
    update(state, TabOpened{{i}, some_metadata("/p" + std::to_string(i)), {}, {}, {}});
  }
  EXPECT_TRUE(enter(state, "/session new /p11").empty());
  EXPECT_EQ(state.tabs.size(), 10U);
  EXPECT_EQ(state.tab()->entries.back().text, "Maximum 10 sessions reached.");
}

TEST(Update, SwitchesTabs) {
  State state = open_state();
  enter(state, "/session new /b");
  update(state, TabOpened{{2}, some_metadata("/b", "Beta"), {}, {}, {}});
  EXPECT_EQ(state.current, 1U);
  key(state, "Ctrl-N");
  EXPECT_EQ(state.current, 0U);
  key(state, "Alt-2");
  EXPECT_EQ(state.current, 1U);
  key(state, "Alt-7");
  EXPECT_EQ(state.current, 1U);
  enter(state, "/session switch 1");
  EXPECT_EQ(state.current, 0U);
  enter(state, "/session switch Beta");
  EXPECT_EQ(state.current, 1U);
  enter(state, "/session switch Gamma");
  EXPECT_EQ(state.tab()->entries.back().text, "no session matches 'Gamma'");
  state.tabs[0].metadata.title = "2026";  // a name that looks like a number
  enter(state, "/session switch 2026");
  EXPECT_EQ(state.current, 0U);
  EXPECT_EQ(only<SaveNow>(enter(state, "/session save")).tab, TabId{1});
  EXPECT_EQ(only<SaveNow>(enter(state, "/session save 2")).tab, TabId{2});
  EXPECT_EQ(only<SaveNow>(enter(state, "/session save Beta")).tab, TabId{2});
}

TEST(Update, MarksBackgroundTabsWithUnreadText) {
  State state = open_state();
  enter(state, "slow question");
  enter(state, "/session new /b");
  update(state, TextReceived{{1}, "news"});
  EXPECT_TRUE(state.tabs[0].unread);
  key(state, "Ctrl-P");
  EXPECT_FALSE(state.tabs[0].unread);
}

TEST(Update, ReportsAFailedOpenAndRemovesTheTab) {
  State state = open_state();
  enter(state, "/session new .");
  update(state, TabFailed{{2}, "no such folder: ."});
  ASSERT_EQ(state.tabs.size(), 1U);
  EXPECT_EQ(state.tab()->entries.back().text, "no such folder: .");
}

TEST(Update, ReturnsTheMessageIfNoSessionCouldBeOpened) {
  State state = empty_state();
  update(state, NewestFound{});
  enter(state, "hello");
  update(state, TabFailed{{1}, "no provider is set up"});
  EXPECT_TRUE(state.tabs.empty());
  EXPECT_EQ(state.notice, "no provider is set up");
  EXPECT_EQ(state.input().text(), "hello");
  // Enter tries again.
  EXPECT_EQ(only<OpenNew>(key(state, "Enter")).tab, TabId{2});
}

TEST(Update, ClosingATabAsksOnlyDuringAnAnswer) {
  State state = open_state();
  EXPECT_EQ(only<CloseTab>(key(state, "Ctrl-W")).tab, TabId{1});
  update(state, TabClosed{{1}});
  EXPECT_TRUE(state.tabs.empty());

  State busy = open_state();
  enter(busy, "question");
  EXPECT_TRUE(key(busy, "Ctrl-W").empty());
  ASSERT_EQ(busy.dialogs.size(), 1U);
  key(busy, "Esc");
  EXPECT_EQ(busy.tabs[0].phase, Tab::Phase::answering);
  key(busy, "Ctrl-W");
  EXPECT_EQ(only<CloseTab>(type(busy, "y")).tab, TabId{1});
}

TEST(Update, RefusesToChangeTheModelDuringAnAnswer) {
  State state = open_state();
  enter(state, "question");
  EXPECT_TRUE(enter(state, "/model other").empty());
  EXPECT_EQ(only<RunSlash>(enter(state, "/title T")).slash.text, "T");
}

TEST(Update, KeepsCommandOutputWhenTheHistoryChanges) {
  State state = open_state();
  enter(state, "question");
  update(state, Announcement{Announcement::Kind::notice, TabId{1}, "took back 1 turn"});
  TabChanged changed{.tab = {1}, .metadata = some_metadata(), .history_changed = true};
  changed.entries.push_back({.kind = Entry::Kind::question, .text = "older"});
  update(state, changed);
  ASSERT_EQ(state.tabs[0].entries.size(), 2U);
  EXPECT_EQ(state.tabs[0].entries[1].text, "took back 1 turn");
}

TEST(Update, ChangesNothingInAClosingSession) {
  State state = open_state();
  key(state, "Ctrl-W");
  EXPECT_TRUE(enter(state, "/title T").empty());
  EXPECT_TRUE(enter(state, "too late").empty());
  EXPECT_NE(shown(state).find("this session is closing"), std::string::npos);
  update(state, TabClosed{{1}});
  EXPECT_EQ(state.input().text(), "too late");
}

TEST(Update, LoadsOlderMessagesAtTheTop) {
  State state = open_state();
  Tab& tab = state.tabs[0];
  for (int i = 0; i < 50; ++i) {
    tab.entries.push_back({.text = "line " + std::to_string(i)});
  }
  tab.oldest = Seq{200};
  EXPECT_EQ(only<LoadOlder>(key(state, "Ctrl-Home")).before, Seq{200});
  EXPECT_TRUE(key(state, "PgUp").empty());  // once
  const Anchor before = *tab.top;
  update(state, OlderLoaded{{1}, {Entry{.text = "older"}}, Seq{0}});
  EXPECT_EQ(tab.top->entry, before.entry + 1);
}

TEST(Update, FollowsTheEndUntilItIsScrolled) {
  State state = open_state();
  for (int i = 0; i < 50; ++i) {
    state.tabs[0].entries.push_back({.text = "line " + std::to_string(i)});
  }
  key(state, "PgUp");
  ASSERT_TRUE(state.tabs[0].top);
  const Anchor top = *state.tabs[0].top;
  update(state, Announcement{Announcement::Kind::notice, TabId{1}, "news"});
  EXPECT_EQ(state.tabs[0].top, top);
  key(state, "PgDn");
  key(state, "PgDn");
  EXPECT_FALSE(state.tabs[0].top);
}

TEST(Update, KeepsWarningsOfAClosingSession) {
  State state = open_state();
  enter(state, "/session new /b");
  update(state, TabOpened{{2}, some_metadata("/b"), {}, {}, {}});
  for (const int tab : {2, 1}) {
    key(state, "Ctrl-W");
    update(state,
           Announcement{Announcement::Kind::warning, TabId{tab}, "Failed to save: disk full"});
    update(state, TabClosed{{tab}});
    EXPECT_NE(shown(state).find(cat(tab == 2 ? "b" : "reprise", ": Failed to save: disk full")),
              std::string::npos)
        << shown(state);
  }
}

TEST(Update, KeepsWarningsUntilExit) {
  State state = open_state();
  key(state, "Ctrl-C");
  key(state, "Ctrl-C");
  update(state, Announcement{Announcement::Kind::warning, TabId{1}, "Failed to save: disk full"});
  EXPECT_EQ(state.late_warnings, std::vector<std::string>{"Failed to save: disk full"});
}

}  // namespace
}  // namespace reprise::cli::app
