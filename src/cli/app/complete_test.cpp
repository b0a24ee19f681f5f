#include <gtest/gtest.h>

#include "cli/app/testing/state.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

State three_tabs() {
  State state = open_state();
  for (int i = 2; i <= 3; ++i) {
    enter(state, "/session new /p");
    update(state, TabOpened{{i},
                            some_metadata("/p" + std::to_string(i), i == 2 ? "Beta two" : "Beth"),
                            {},
                            {},
                            {}});
  }
  return state;
}

TEST(Complete, CompletesCommandsAndArguments) {
  const State state = three_tabs();
  EXPECT_EQ(complete(state, "/sess").text, "/session ");
  EXPECT_EQ(complete(state, "/qu").text, "/quit");
  EXPECT_EQ(complete(state, "/session re").text, "/session rename ");
  EXPECT_EQ(complete(state, "/session switch Beta").text, "/session switch Beta two");
  EXPECT_EQ(complete(state, "/todo set 2 in").text, "/todo set 2 in_progress");
  EXPECT_EQ(complete(state, "/resume cl").text, "/resume clear");
}

TEST(Complete, ListsAmbiguousCandidates) {
  const State state = three_tabs();
  const Completion completion = complete(state, "/session switch B");
  EXPECT_EQ(completion.text, "/session switch Bet");
  EXPECT_EQ(completion.candidates, (std::vector<std::string>{"Beta two", "Beth"}));
  EXPECT_GT(complete(state, "/re").candidates.size(), 2U);
}

TEST(Complete, IgnoresOtherText) {
  const State state = three_tabs();
  for (const char* text : {"", "hello", "/nothing", "/title my", "/session list x", "/help\nx"}) {
    EXPECT_EQ(complete(state, text).text, text);
  }
}

TEST(Complete, CompletesModelsFromTheSettings) {
  State state = open_state();
  state.tabs[0].metadata.models = {"gpt-x", "llama 3"};
  EXPECT_EQ(complete(state, "/model l").text, "/model llama 3");
}

TEST(Complete, LoadsModelsInTheBackground) {
  State state = open_state();
  type(state, "/model lla");
  EXPECT_EQ(only<ListModels>(key(state, "Tab")).tab, TabId{1});
  EXPECT_EQ(state.input().text(), "/model lla");
  update(state, ModelsListed{{1}, {"llama-3.1", "other"}});
  EXPECT_EQ(state.input().text(), "/model llama-3.1");
  key(state, "Ctrl-U");
  type(state, "/model o");
  EXPECT_TRUE(key(state, "Tab").empty());  // already loaded
  EXPECT_EQ(state.input().text(), "/model other");
  type(state, "x");
  update(state, ModelsListed{{1}, {"otherx2"}});  // too late: no longer requested
  EXPECT_EQ(state.input().text(), "/model otherx");
}

TEST(Complete, RevisesAnEarlyCompletion) {
  State state = open_state();
  state.tabs[0].metadata.models = {"gpt-x"};
  type(state, "/model ");
  key(state, "Tab");
  EXPECT_EQ(state.input().text(), "/model gpt-x");
  update(state, ModelsListed{{1}, {"llama"}});
  EXPECT_EQ(state.input().text(), "/model ");
  EXPECT_NE(shown(state).find("gpt-x  llama"), std::string::npos) << shown(state);
}

TEST(Complete, ActsOnTab) {
  State state = three_tabs();
  type(state, "/sess");
  key(state, "Tab");
  EXPECT_EQ(state.input().text(), "/session ");
  key(state, "Tab");
  EXPECT_NE(shown(state).find("close  list  new  rename  save  switch"), std::string::npos);
}

}  // namespace
}  // namespace reprise::cli::app
