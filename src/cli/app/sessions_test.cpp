// Tests of several sessions in one folder, Esc, and the mouse wheel.

#include <gtest/gtest.h>

#include "cli/app/testing/state.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

TEST(Sessions, EscStopsAnAnswer) {
  State state = open_state();
  enter(state, "slow question");
  key(state, "PgUp");
  state.tabs[0].top = Anchor{};
  EXPECT_TRUE(key(state, "Esc").empty());  // to the end
  EXPECT_EQ(only<StopTurn>(key(state, "Esc")).tab, TabId{1});
  EXPECT_EQ(state.tab()->phase, Tab::Phase::stopping);
  EXPECT_TRUE(key(state, "Esc").empty());
}

TEST(Sessions, EscTwiceEditsTheLastQuestion) {
  State state = open_state();
  enter(state, "first question");
  update(state, TurnEnded{.tab = {1}, .metadata = some_metadata()});
  enter(state, "second qestion");
  update(state, TextReceived{{1}, "an answer"});
  update(state, TurnEnded{.tab = {1}, .metadata = some_metadata()});
  key(state, "Esc");
  EXPECT_EQ(state.input().text(), "");
  key(state, "Esc");
  EXPECT_EQ(state.input().text(), "second qestion");
  EXPECT_NE(shown(state).find("Enter replaces the last question"), std::string::npos);
  key(state, "Esc");  // back to the original input
  EXPECT_EQ(state.input().text(), "");
  key(state, "Esc");
  key(state, "Esc");
  type(state, "!");
  const auto requested = only<AskInstead>(key(state, "Enter"));
  EXPECT_EQ(requested.text, "second qestion!");
  EXPECT_EQ(shown(state).find("an answer"), std::string::npos);
  EXPECT_NE(shown(state).find("first question"), std::string::npos);
  EXPECT_EQ(state.tab()->phase, Tab::Phase::answering);
  // The next question is asked normally.
  update(state, TurnEnded{.tab = {1}, .metadata = some_metadata()});
  EXPECT_EQ(only<Ask>(enter(state, "third")).text, "third");
}

TEST(Sessions, EscDoesNotReplaceTypedText) {
  State state = open_state();
  enter(state, "first question");
  update(state, TurnEnded{.tab = {1}, .metadata = some_metadata()});
  type(state, "draft");
  key(state, "Esc");
  key(state, "Esc");
  EXPECT_EQ(state.input().text(), "draft");
}

TEST(Sessions, RingsWhenAnAnswerEndsInTheBackground) {
  State state = open_state();
  enter(state, "slow question");
  enter(state, "/new");
  const Effects effects = update(state, TurnEnded{.tab = {1}, .metadata = some_metadata()});
  ASSERT_EQ(effects.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<Bell>(effects[0]));
  key(state, "Alt-1");
  enter(state, "another");
  EXPECT_TRUE(update(state, TurnEnded{.tab = {1}, .metadata = some_metadata()}).empty());
}

// A store with one open session per folder closes the tab in the foreground.
TEST(Sessions, PreservesTheDraftOfAClosedTab) {
  State state = open_state();
  type(state, "a draft");
  state.tabs.push_back({.id = {2}, .phase = Tab::Phase::idle});
  state.current = 1;
  update(state, TabClosed{{1}});
  ASSERT_EQ(state.tabs.size(), 1U);
  EXPECT_NE(shown(state).find("Up brings it back"), std::string::npos) << shown(state);
  key(state, "Up");
  EXPECT_EQ(state.input().text(), "a draft");
}

TEST(Sessions, RemembersResumableSessionsAtExit) {
  State state = open_state();
  enter(state, "/new");  // no messages
  key(state, "Alt-1");
  enter(state, "Which birds swim?");
  enter(state, "/quit");
  ASSERT_EQ(state.open_at_exit.size(), 1U);
  EXPECT_EQ(state.open_at_exit[0].id, some_metadata().id);
  EXPECT_EQ(state.open_at_exit[0].title, "Which birds swim?");
}

TEST(Sessions, ScrollsByTheWheel) {
  State state = open_state();
  for (int i = 0; i < 60; ++i) {
    state.tabs[0].entries.push_back({.text = "line " + std::to_string(i)});
  }
  key(state, "Wheel-Up");
  EXPECT_EQ(shown(state).find("line 59"), std::string::npos);
  EXPECT_NE(shown(state).find("line 56"), std::string::npos);
  key(state, "Wheel-Down");
  EXPECT_NE(shown(state).find("line 59"), std::string::npos);
}

TEST(Sessions, StartsAnotherSessionInTheFolder) {
  for (const char* const command : {"/new", "/clear"}) {
    State state = open_state();
    EXPECT_EQ(only<OpenNew>(enter(state, command)).folder, "/home/ann/reprise");
    EXPECT_EQ(state.tabs.size(), 2U);
    EXPECT_EQ(state.current, 1U);
  }
}

TEST(Sessions, NamesATabAfterItsFirstQuestion) {
  State state = open_state();
  EXPECT_EQ(tab_name(state.tabs[0]), "reprise");
  enter(state, "Which birds swim?");
  EXPECT_EQ(tab_name(state.tabs[0]), "Which birds swim?");
  state.tabs[0].metadata.title = "Birds";
  EXPECT_EQ(tab_name(state.tabs[0]), "Birds");
}

TEST(Sessions, SwitchesToTheTabOfAnOpenSession) {
  State state = open_state();
  enter(state, "/new");
  enter(state, "/resume 1");
  ASSERT_EQ(state.tabs.size(), 3U);
  update(state, TabIsOpen{.tab = {3}, .open = {1}});
  EXPECT_EQ(state.tabs.size(), 2U);
  EXPECT_EQ(state.current, 0U);
}

}  // namespace
}  // namespace reprise::cli::app
