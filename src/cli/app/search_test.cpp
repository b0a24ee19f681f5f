// Completion, searches and the other editor: what keys lead to.

#include <gtest/gtest.h>

#include <string>

#include "cli/app/complete.h"
#include "cli/app/effect.h"
#include "cli/app/event.h"
#include "cli/app/state.h"
#include "cli/app/test_state.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

State three_tabs() {
  State state = open_state();
  for (int i = 2; i <= 3; ++i) {
    enter(state, "/session new /p");
    update(
        state,
        TabOpened{
            {i}, some_facts("/p" + std::to_string(i), i == 2 ? "Beta two" : "Beth"), {}, {}, {}});
  }
  return state;
}

TEST(Complete, FinishesCommandsAndTheirWords) {
  const State state = three_tabs();
  EXPECT_EQ(complete(state, "/sess").text, "/session ");
  EXPECT_EQ(complete(state, "/qu").text, "/quit");
  EXPECT_EQ(complete(state, "/session re").text, "/session rename ");
  EXPECT_EQ(complete(state, "/session switch Beta").text, "/session switch Beta two");
  EXPECT_EQ(complete(state, "/todo set 2 in").text, "/todo set 2 in_progress");
  EXPECT_EQ(complete(state, "/resume cl").text, "/resume clear");
}

TEST(Complete, ShowsWhatThereIsWhenItIsNotClear) {
  const State state = three_tabs();
  const Completion completion = complete(state, "/session switch B");
  EXPECT_EQ(completion.text, "/session switch Bet");
  EXPECT_EQ(completion.candidates, (std::vector<std::string>{"Beta two", "Beth"}));
  EXPECT_GT(complete(state, "/re").candidates.size(), 2U);
}

TEST(Complete, LeavesOtherTextAlone) {
  const State state = three_tabs();
  for (const char* text : {"", "hello", "/nothing", "/title my", "/session list x", "/help\nx"}) {
    EXPECT_EQ(complete(state, text).text, text);
  }
}

TEST(Complete, KnowsTheModelsOfTheSettings) {
  State state = open_state();
  state.tabs[0].facts.models = {"gpt-x", "llama 3"};
  EXPECT_EQ(complete(state, "/model l").text, "/model llama 3");
}

TEST(Complete, ActsOnTab) {
  State state = three_tabs();
  type(state, "/sess");
  key(state, "Tab");
  EXPECT_EQ(state.input().text(), "/session ");
  key(state, "Tab");
  EXPECT_NE(shown(state).find("close  list  new  rename  save  switch"), std::string::npos);
}

TEST(HistorySearch, FindsEarlierMessages) {
  State state = open_state();
  for (const char* prompt : {"make bread", "bake BREAD again", "other"}) {
    state.tabs[0].input.remember(prompt);
  }
  type(state, "draft");
  key(state, "Ctrl-R");
  type(state, "brea");
  EXPECT_EQ(state.input().text(), "bake BREAD again");
  EXPECT_NE(shown(state).find("earlier messages: brea"), std::string::npos);
  key(state, "Ctrl-R");
  EXPECT_EQ(state.input().text(), "make bread");
  key(state, "Ctrl-R");
  EXPECT_EQ(state.input().text(), "make bread");
  key(state, "Esc");
  EXPECT_EQ(state.input().text(), "draft");

  key(state, "Ctrl-R");
  type(state, "oth");
  EXPECT_TRUE(key(state, "Enter").empty());  // takes it, does not send it
  EXPECT_EQ(only<Ask>(key(state, "Enter")).text, "other");
}

TEST(HistorySearch, EndsWithAKeyThatMeansWhatWasFound) {
  State state = open_state();
  state.tabs[0].input.remember("find me");
  key(state, "Ctrl-R");
  type(state, "find");
  key(state, "Ctrl-A");
  type(state, "now ");
  EXPECT_EQ(state.input().text(), "now find me");
}

State long_talk() {
  State state = open_state();
  for (int i = 0; i < 100; ++i) {
    state.tabs[0].entries.push_back(
        {.text = (i % 30 == 10 ? "a Needle number " : "hay ") + std::to_string(i)});
  }
  return state;
}

TEST(TranscriptSearch, LooksUpwardsAndOn) {
  State state = long_talk();
  key(state, "PgUp");
  type(state, "/");
  type(state, "needle");
  EXPECT_NE(shown(state).find(" /needle"), std::string::npos);
  key(state, "Enter");
  EXPECT_NE(shown(state).find("a Needle number 70"), std::string::npos);
  type(state, "n");
  EXPECT_NE(shown(state).find("a Needle number 40"), std::string::npos);
  type(state, "n");
  EXPECT_NE(shown(state).find("a Needle number 10"), std::string::npos);
  type(state, "n");
  EXPECT_NE(shown(state).find("not found"), std::string::npos);
  type(state, "N");
  EXPECT_NE(shown(state).find("a Needle number 40"), std::string::npos);
  key(state, "Esc");
  type(state, "n");
  EXPECT_EQ(state.input().text(), "n");
}

TEST(TranscriptSearch, MarksWhatItFound) {
  State state = long_talk();
  key(state, "PgUp");
  type(state, "/needle 70");
  key(state, "Enter");
  type(state, "/number");
  key(state, "Enter");
  const Screen screen = render(state);
  bool marked = false;
  for (std::size_t row = 0; row < 24; ++row) {
    marked = marked || (screen.at({row, 11}).text == "n" && screen.at({row, 11}).style.reverse);
  }
  EXPECT_TRUE(marked);
}

TEST(TranscriptSearch, IsNotMeantAtTheEndOrAfterHelp) {
  State state = long_talk();
  type(state, "/title x");
  EXPECT_EQ(state.input().text(), "/title x");
  key(state, "Ctrl-U");
  key(state, "F1");
  type(state, "/title x");
  EXPECT_EQ(state.input().text(), "/title x");
}

TEST(EditElsewhere, TakesTwoKeys) {
  State state = open_state();
  type(state, "draft");
  EXPECT_TRUE(key(state, "Ctrl-X").empty());
  EXPECT_EQ(only<EditElsewhere>(key(state, "Ctrl-E")).text, "draft");
  update(state, Edited{.tab = {1}, .text = "better\ndraft"});
  EXPECT_EQ(state.input().text(), "better\ndraft");
  update(state, Edited{.tab = {1}, .text = std::nullopt, .failure = "the editor failed"});
  EXPECT_EQ(state.input().text(), "better\ndraft");
  EXPECT_NE(shown(state).find("the editor failed"), std::string::npos);
}

TEST(EditElsewhere, FindsATabThatWasOpenedMeanwhile) {
  State state = empty_state();
  type(state, "draft");
  key(state, "Ctrl-X");
  const TabId tab = only<EditElsewhere>(key(state, "Ctrl-E")).tab;
  update(state, NewestFound{});
  update(state, Edited{.tab = tab, .text = "edited"});
  EXPECT_EQ(state.input().text(), "edited");
}

TEST(Todos, StandBelowTheTranscriptOrBesideIt) {
  State state = open_state();
  std::vector<Todo> todos(3);
  todos[0].content = "read the file";
  todos[0].status = TodoStatus::completed;
  todos[1].content = "mend it";
  todos[1].active_form = "mending it";
  todos[1].status = TodoStatus::in_progress;
  todos[2].content = "test\x1b[2J it";
  update(state, TodosChanged{{1}, todos});
  EXPECT_NE(shown(state).find("  Todos 1/3\n  [x] read the file\n  [~] mending it\n"
                              "  [ ] test␛[2J it\n──"),
            std::string::npos)
      << shown(state);
  state.size = {50, 200};
  EXPECT_NE(shown(state).find("│ Todos 1/3\n"), std::string::npos) << shown(state);
  state.size = {10, 40};
  EXPECT_NE(shown(state).find("  Todos 1/3\n  [x] read the file\n"), std::string::npos)
      << shown(state);
  key(state, "F3");
  EXPECT_EQ(shown(state).find("Todos"), std::string::npos);
}

TEST(Todos, KeepWhatIsToBeDoneInSight) {
  State state = open_state();
  std::vector<Todo> todos(40);
  for (std::size_t i = 0; i < todos.size(); ++i) {
    todos[i].content = "step " + std::to_string(i);
    todos[i].status = i < 20 ? TodoStatus::completed : TodoStatus::pending;
  }
  update(state, TodosChanged{{1}, todos});
  EXPECT_NE(shown(state).find("[x] step 19\n  [ ] step 20\n"), std::string::npos) << shown(state);
}

}  // namespace
}  // namespace reprise::cli::app
