// Tests of the list above the input.

#include <gtest/gtest.h>

#include "cli/app/testing/state.h"
#include "cli/app/update.h"
#include "cli/process/process.h"

namespace reprise::cli::app {
namespace {

std::string selected(const State& state) {
  return state.menu ? state.menu->items[state.menu->selected].name : "";
}

TEST(Menu, EscRemovesTheSlash) {
  State state = open_state();
  type(state, "/");
  ASSERT_TRUE(state.menu);
  key(state, "Esc");
  EXPECT_FALSE(state.menu);
  EXPECT_EQ(state.input().text(), "");
  type(state, "/ne");
  key(state, "Esc");
  EXPECT_EQ(state.input().text(), "/ne");
}

TEST(Menu, ListsCommandsWhileOneIsTyped) {
  State state = open_state();
  type(state, "/");
  ASSERT_TRUE(state.menu);
  EXPECT_EQ(selected(state), "/help");
  EXPECT_NE(shown(state).find("▸ /help"), std::string::npos) << shown(state);
  type(state, "ti");
  EXPECT_EQ(selected(state), "/title");
  EXPECT_NE(shown(state).find("show or set the title"), std::string::npos);
  key(state, "Backspace");
  key(state, "Backspace");
  EXPECT_EQ(selected(state), "/help");
  key(state, "Down");
  key(state, "Down");
  EXPECT_EQ(selected(state), "/model");
  key(state, "Up");
  key(state, "Tab");
  EXPECT_EQ(state.input().text(), "/title ");
  EXPECT_FALSE(state.menu);
  type(state, "x");
  EXPECT_FALSE(state.menu);
}

TEST(Menu, RunsTheSelectedCommand) {
  State state = open_state();
  type(state, "/retr");
  EXPECT_EQ(selected(state), "/retry");
  state.tabs[0].entries.push_back({.kind = Entry::Kind::question, .text = "q"});
  EXPECT_EQ(only<AskAgain>(key(state, "Enter")).tab, TabId{1});
  EXPECT_TRUE(state.input().empty());
}

// A command that requires a file is not run without one.
TEST(Menu, CompletesCommandsThatRequireAFile) {
  State state = open_state();
  type(state, "/sav");
  EXPECT_TRUE(key(state, "Enter").empty());
  EXPECT_EQ(state.input().text(), "/save ");
}

TEST(Menu, EscClosesItAndKeepsTheInput) {
  State state = open_state();
  type(state, "/mod");
  key(state, "Esc");
  EXPECT_FALSE(state.menu);
  EXPECT_EQ(state.input().text(), "/mod");
  type(state, "e");
  EXPECT_TRUE(state.menu);
}

TEST(Menu, IgnoresMessages) {
  State state = open_state();
  for (const char* const text : {"//", "/usr/bin is full", "a /", "/xyzzy"}) {
    state.input().clear();
    type(state, text);
    EXPECT_FALSE(state.menu) << text;
  }
}

// Up continues through the history even past a command.
TEST(Menu, DoesNotOpenForHistoryEntries) {
  State state = open_state();
  state.tabs[0].input.remember("older");
  state.tabs[0].input.remember("/cost");
  key(state, "Up");
  EXPECT_EQ(state.input().text(), "/cost");
  key(state, "Up");
  EXPECT_EQ(state.input().text(), "older");
}

TEST(Menu, ChoosesAQuestionToForkBefore) {
  State state = open_state();
  state.tabs[0].metadata.messages = 4;
  const auto requested = only<ListQuestions>(enter(state, "/fork"));
  EXPECT_EQ(requested.verb, SlashVerb::fork);
  update(state, QuestionsListed{{1}, SlashVerb::fork, {{Seq{0}, "first"}, {Seq{2}, "second"}}});
  EXPECT_EQ(selected(state), "all of it");
  EXPECT_NE(shown(state).find("second"), std::string::npos);
  key(state, "Up");
  EXPECT_EQ(only<RunSlash>(key(state, "Enter")).slash.number, 2);
  EXPECT_FALSE(state.menu);
  // With a number, no list is needed.
  EXPECT_EQ(only<RunSlash>(enter(state, "/fork 2")).slash.number, 2);
}

TEST(Menu, ChoosesAQuestionToRewindTo) {
  State state = open_state();
  EXPECT_EQ(only<ListQuestions>(enter(state, "/rewind")).verb, SlashVerb::rewind);
  const QuestionsListed listed{
      {1}, SlashVerb::rewind, {{Seq{0}, "first"}, {Seq{2}, "second"}, {Seq{4}, "third"}}};
  update(state, listed);
  EXPECT_EQ(selected(state), "third");
  EXPECT_EQ(only<RunSlash>(key(state, "Enter")).slash.number, 1);
  update(state, listed);
  key(state, "Home");
  EXPECT_EQ(only<RunSlash>(key(state, "Enter")).slash.number, 3);
  update(state, listed);
  EXPECT_TRUE(key(state, "Esc").empty());
  EXPECT_FALSE(state.menu);
  update(state, QuestionsListed{{1}, SlashVerb::rewind, {}});
  EXPECT_NE(shown(state).find("there are no questions yet"), std::string::npos);
}

TEST(Menu, CopiesTheLastAnswer) {
  State state = open_state();
  enter(state, "/copy");
  EXPECT_NE(shown(state).find("no answer to copy"), std::string::npos);
  enter(state, "question");
  update(state, TextReceived{{1}, "one\x1b]0;"});
  update(state, ToolCalled{{1}, {"1", "look", *RawJson::parse("{}"), {}}});
  update(state, TextReceived{{1}, "two"});
  update(state, TurnEnded{.tab = {1}, .metadata = some_metadata()});
  EXPECT_EQ(only<CopyText>(enter(state, "/copy")).text, "one\x1b]0;\n\ntwo");
  state.tabs[0].entries.push_back(
      {.kind = Entry::Kind::answer, .text = std::string(kCopyBytesMax, 'x')});
  EXPECT_TRUE(enter(state, "/copy").empty());
  EXPECT_NE(shown(state).find("/save FILE"), std::string::npos) << shown(state);
}

}  // namespace
}  // namespace reprise::cli::app
