// Tests folding of single tool calls and thoughts.

#include <gtest/gtest.h>

#include "cli/app/effect.h"
#include "cli/app/state.h"
#include "cli/app/testing/state.h"

namespace reprise::cli::app {
namespace {

Entry call(const std::string& name) {
  return {.kind = Entry::Kind::tool,
          .text = name,
          .id = name,
          .input = "{}",
          .result = "first of " + name + "\nsecond"};
}

State with_parts(Size size = kUsual) {
  State state = open_state(size);
  state.tabs[0].entries = {{.kind = Entry::Kind::question, .text = "Do it"},
                           {.kind = Entry::Kind::thinking, .text = "I think\nfor long"},
                           call("alpha"),
                           call("beta"),
                           {.kind = Entry::Kind::answer, .text = "Done"}};
  return state;
}

bool has(const State& state, std::string_view text) {
  return shown(state).contains(text);
}

// The highlighted row; "" if there is none.
std::string marked(const State& state) {
  const Screen screen = render(state);
  std::string out;
  for (std::size_t row = 1; row + 1 < state.size.rows; ++row) {
    for (std::size_t column = 0; column < state.size.columns; ++column) {
      if (const Cell& cell = screen.at({row, column}); cell.style.reverse) {
        out += cell.text;
      }
    }
  }
  return out;
}

TEST(Fold, FoldsASingleEntry) {
  State state = with_parts();
  key(state, "Shift-Tab");
  EXPECT_EQ(marked(state), "  ▸ beta (2 lines) {}");
  EXPECT_TRUE(has(state, "Enter opens and closes it"));
  EXPECT_TRUE(key(state, "Enter").empty());
  EXPECT_EQ(marked(state), "  ▾ beta (2 lines)");
  EXPECT_TRUE(has(state, "  └ first of beta\n    second\n"));
  EXPECT_FALSE(has(state, "first of alpha"));
  type(state, " ");
  EXPECT_FALSE(has(state, "first of beta"));
  EXPECT_TRUE(state.input().empty());
}

TEST(Fold, SelectsTheNextEntry) {
  State state = with_parts();
  key(state, "Tab");
  EXPECT_EQ(marked(state), "  ▸ thought (2 lines) I think for long");
  key(state, "Enter");
  EXPECT_TRUE(has(state, "  ▾ I think\n    for long\n"));
  key(state, "Tab");
  key(state, "Tab");
  key(state, "Tab");  // there is none after the last one
  EXPECT_EQ(marked(state), "  ▸ beta (2 lines) {}");
  key(state, "Shift-Tab");
  EXPECT_EQ(marked(state), "  ▸ alpha (2 lines) {}");
  key(state, "Esc");
  EXPECT_EQ(marked(state), "");
}

TEST(Fold, FoldingAllOverridesSingleEntries) {
  State state = with_parts();
  key(state, "Tab");
  key(state, "Enter");
  key(state, "Ctrl-T");
  EXPECT_TRUE(has(state, "first of alpha"));
  key(state, "Enter");
  EXPECT_FALSE(has(state, "\n    for long\n"));
  key(state, "Ctrl-T");
  EXPECT_FALSE(has(state, "first of alpha"));
}

TEST(Fold, KeepsTheSelectedEntryVisible) {
  State state = with_parts({10, 40});
  for (int i = 0; i < 40; ++i) {
    state.tabs[0].entries.push_back({.text = "line " + std::to_string(i)});
  }
  key(state, "Shift-Tab");
  EXPECT_EQ(marked(state), "  ▸ beta (2 lines) {}");
  key(state, "Enter");
  EXPECT_EQ(marked(state), "  ▾ beta (2 lines)");
  key(state, "Shift-Tab");
  EXPECT_EQ(marked(state), "  ▸ alpha (2 lines) {}");
  // Loading older entries above does not move the selection.
  update(state, OlderLoaded{state.tabs[0].id, {{.text = "older"}, call("gamma")}, {}});
  EXPECT_EQ(marked(state), "  ▸ alpha (2 lines) {}");
}

TEST(Fold, DoesNotInterceptTyping) {
  State state = with_parts();
  key(state, "Tab");
  type(state, "a word");
  EXPECT_EQ(state.input().text(), "a word");
  EXPECT_EQ(marked(state), "");
  EXPECT_EQ(only<Ask>(key(state, "Enter")).text, "a word");
}

TEST(Fold, ReportsWhenNothingIsFoldable) {
  State state = open_state();
  enter(state, "slow");
  key(state, "Tab");
  EXPECT_TRUE(has(state, "there are no tool calls or reasoning to open"));
}

}  // namespace
}  // namespace reprise::cli::app
