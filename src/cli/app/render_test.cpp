#include "cli/app/render.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/app/testing/state.h"

namespace reprise::cli::app {
namespace {

constexpr Size kSmall{10, 40};
constexpr Size kLarge{50, 200};

// The rows from `first` to `last`, counted from 0.
std::string rows(const std::string& text, std::size_t first, std::size_t last) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < first; ++i) {
    begin = text.find('\n', begin) + 1;
  }
  std::size_t end = begin;
  for (std::size_t i = first; i <= last; ++i) {
    end = text.find('\n', end) + 1;
  }
  return text.substr(begin, end - begin);
}

std::string rule(std::size_t columns) {
  std::string out;
  for (std::size_t i = 0; i < columns; ++i) {
    out += "─";
  }
  return out + "\n";
}

void answer(State& state, std::string_view text) {
  const TabId tab = state.tabs[state.current].id;
  update(state, TextReceived{tab, std::string(text)});
  update(state, AnswerStored{.tab = tab,
                             .model = "gpt-x",
                             .usage = Usage{.input = {12}, .output = {34}},
                             .at = state.now});
  update(state, TurnEnded{.tab = tab, .metadata = state.tabs[state.current].metadata});
}

TEST(Render, WelcomesInANewSession) {
  const std::string text = shown(open_state());
  EXPECT_EQ(rows(text, 0, 4),
            " 1 reprise\n"
            "\n"
            "  Reprise\n"
            "  A new session in ~/reprise\n"
            "  Type a message and press Enter. /help lists commands, F1 the keys.\n");
  EXPECT_EQ(
      rows(text, 21, 23),
      rule(80) +
          "› Message, or / for commands\n"
          " echo · sqlite · ~/reprise                                              F1 help\n");
}

TEST(Render, ShowsAnExchange) {
  for (const Size size : {kUsual, kLarge}) {
    State state = open_state(size);
    enter(state, "What is new?");
    answer(state, "# News\nAll is **well**.\n- one\n- two");
    EXPECT_EQ(rows(shown(state), 1, 10),
              "\n"
              "▌ What is new?\n"
              "\n"
              "  News\n"
              "\n"
              "  All is well.\n"
              "\n"
              "  • one\n"
              "  • two\n"
              "  gpt-x · 12 in, 34 out · just now\n");
  }
}

TEST(Render, FitsOnASmallScreen) {
  State state = open_state(kSmall);
  enter(state, "A question that is longer than a line of this screen");
  answer(state, "An answer that is longer, too, than one line can be here");
  EXPECT_EQ(shown(state),
            " 1 A question that is long…\n"
            "▌ A question that is longer than a line\n"
            "▌ of this screen\n"
            "\n"
            "  An answer that is longer, too, than\n"
            "  one line can be here\n"
            "  gpt-x · 12 in, 34 out · just now\n" +
                rule(40) +
                "› Message, or / for commands\n"
                " echo · sqlite · ~/reprise      F1 help\n");
}

TEST(Render, ShowsRunningOperations) {
  State state = open_state();
  enter(state, "slow");
  EXPECT_NE(shown(state).find("⠋ answering 0 s · Esc stops"), std::string::npos);
  update(state, Ticked{state.now + std::chrono::milliseconds(12'300)});
  update(state, TextReceived{{1}, std::string(400, 'x')});
  EXPECT_NE(shown(state).find("⠇ answering 12 s · ~100 tokens · Esc stops"), std::string::npos)
      << shown(state);
  EXPECT_EQ(rows(shown(state), 0, 0), " 1 slow …\n");
  enter(state, "next");
  EXPECT_NE(shown(state).find("▌ next\n  waits for the answer above\n"), std::string::npos);
}

TEST(Render, SetsTheWindowTitle) {
  State state = empty_state();
  EXPECT_EQ(window_title(state), "reprise");
  state = open_state();
  EXPECT_EQ(window_title(state), "reprise - reprise");
  state.tabs[0].metadata.title = "a\x1b]0;b\a" + std::string(100, 'x');
  enter(state, "slow");
  const std::string title = window_title(state);
  EXPECT_TRUE(title.starts_with("… a")) << title;
  EXPECT_LT(title.size(), 100U);
  EXPECT_EQ(title.find_first_of("\x1b\a"), std::string::npos);
}

TEST(Render, MarksTabsAndCutsTheirNames) {
  State state = open_state(kSmall);
  enter(state, "slow");
  for (int i = 2; i <= 10; ++i) {
    enter(state, "/session new /p");
    update(state,
           TabOpened{{i}, some_metadata("/p" + std::to_string(i), "Long title"), {}, {}, {}});
  }
  EXPECT_EQ(rows(shown(state), 0, 0), " 1 …  2  3  4  5  6  7  8  9  10 Long …\n");
  state.size = kUsual;
  const std::string bar = rows(shown(state), 0, 0);
  EXPECT_NE(bar.find(" 2 Lo… "), std::string::npos) << bar;
  update(state, TextReceived{{1}, "news"});
  update(state, TurnEnded{.tab = {1}, .metadata = state.tabs[0].metadata});
  EXPECT_NE(shown(state).find("•"), std::string::npos);
}

TEST(Render, ShowsTokenUsageOfTheBudget) {
  State state = open_state();
  state.tabs[0].metadata.budget = 8000;
  EXPECT_NE(shown(state).find("echo · budget 8,000 · sqlite"), std::string::npos);
  enter(state, "question");
  answer(state, "answer");
  EXPECT_NE(shown(state).find("echo · 12 of 8,000 sent · sqlite"), std::string::npos);
}

TEST(Render, OmitsTheLeastImportantParts) {
  State state = open_state({10, 40});
  TabMetadata& metadata = state.tabs[0].metadata;
  metadata.budget = 800;
  metadata.usage.input = {123456};
  metadata.saved = false;
  EXPECT_NE(shown(state).find(" echo · budget 800 · not saved  F1 help\n"), std::string::npos)
      << shown(state);
  metadata.model = "a-model-with-a-name-as-long-as-any";
  EXPECT_NE(shown(state).find(" not saved "), std::string::npos) << shown(state);
  metadata.saved = true;
  EXPECT_NE(shown(state).find(" a-model-with-a-name-as-long-a… F1 help"), std::string::npos)
      << shown(state);
}

TEST(Render, GrowsTheInputAndScrollsIt) {
  State state = open_state();
  type(state, "one");
  key(state, "Alt-Enter");
  type(state, "two");
  EXPECT_EQ(rows(shown(state), 20, 22), rule(80) + "› one\n  two\n");
  for (int i = 0; i < 20; ++i) {
    key(state, "Alt-Enter");
  }
  type(state, "last");
  const Screen screen = render(state);
  EXPECT_EQ(rows(screen.text(), 22, 22), "  last\n");
  EXPECT_EQ(screen.cursor(), (ScreenPosition{22, 6}));
}

TEST(Render, ShowsDialogsInsteadOfTheInput) {
  for (const Size size : {kUsual, kSmall, kLarge}) {
    State state = empty_state(size);
    SessionInfo info{.id = *SessionId::parse("0190a6a0-0000-7000-8000-000000000002"),
                     .title = "Old",
                     .head = Seq{4},
                     .updated_at = state.now};
    update(state, NewestFound{info});
    const std::string text = shown(state);
    EXPECT_NE(text.find("? Resume 'Old' (4 messages, just now)?\n  Enter or y: yes"),
              std::string::npos)
        << text;
    EXPECT_FALSE(render(state).cursor());
  }
}

TEST(Render, ShowsThatThereIsMoreBelow) {
  State state = open_state();
  for (int i = 0; i < 50; ++i) {
    state.tabs[0].entries.push_back({.text = "line " + std::to_string(i)});
  }
  EXPECT_NE(shown(state).find("line 49"), std::string::npos);
  key(state, "PgUp");
  EXPECT_EQ(shown(state).find("line 49"), std::string::npos);
  EXPECT_NE(shown(state).find("↓ more below, Esc goes there"), std::string::npos);
  const std::string back = shown(state);
  key(state, "Up");
  EXPECT_NE(shown(state), back);
  EXPECT_TRUE(state.input().empty());
  key(state, "Down");
  EXPECT_EQ(shown(state), back);
  key(state, "Esc");
  EXPECT_NE(shown(state).find("line 49"), std::string::npos);
}

TEST(Render, ShortensTextsOnNarrowScreens) {
  State state = open_state(kSmall);
  key(state, "F1");
  EXPECT_NE(
      shown(state).find("\n  /help: list the commands\n  /title [TEXT]: show or set the title\n"),
      std::string::npos)
      << shown(state);
  EXPECT_NE(shown(state).find("─ ↓ more below ─"), std::string::npos) << shown(state);
  begin(state, {.pick = true});
  EXPECT_NE(shown(state).find(" 0+ sessions · Enter · Esc\n"), std::string::npos) << shown(state);
}

TEST(Render, FitsIntoAnySize) {
  for (std::size_t height = 1; height <= 12; ++height) {
    for (std::size_t columns = 1; columns <= 30; ++columns) {
      State state = open_state({height, columns});
      enter(state, "日本語 and words");
      answer(state, "# 見出し\n- 項目 one\n```\ncode\n```");
      type(state, "typed 日本");
      const Screen screen = render(state);
      EXPECT_EQ(screen.size(), (Size{height, columns}));
      if (screen.cursor()) {
        EXPECT_LT(screen.cursor()->row, height);
      }
    }
  }
}

TEST(Render, SanitizesHostileText) {
  State state = open_state();
  const std::string bad = "a\x1b]0;owned\x07\u202e\xff";
  state.tabs[0].metadata = some_metadata("/tmp/" + bad, bad);
  state.tabs[0].metadata.model = bad;
  state.status = bad;
  enter(state, bad);
  answer(state, bad);
  update(state, ConsentRequest{{1}, 1, bad});
  const std::string text = shown(state);
  EXPECT_EQ(text.find_first_of("\x1b\x07"), std::string::npos);
  EXPECT_EQ(text.find("\u202e"), std::string::npos);
}

}  // namespace
}  // namespace reprise::cli::app
