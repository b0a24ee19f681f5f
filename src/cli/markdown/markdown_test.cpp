#include "cli/markdown/markdown.h"

#include <gtest/gtest.h>

namespace reprise::cli::app {
namespace {

std::string shown_markdown(std::string_view text, std::size_t width = 40) {
  std::string out;
  for (const Line& line : markdown_lines(text, width)) {
    out += text_of(line) + "\n";
  }
  return out;
}

TEST(Markdown, ShowsHeadingsListsAndParagraphs) {
  EXPECT_EQ(
      shown_markdown("# Title\nsome *words* and `code`\n\n- one\n- two\n  - inner\n\n1. a\n2. b"),
      "Title\n"
      "\n"
      "some words and code\n"
      "\n"
      "• one\n"
      "• two\n"
      "  • inner\n"
      "\n"
      "1. a\n"
      "2. b\n");
}

TEST(Markdown, IndentsTheContentOfItems) {
  EXPECT_EQ(shown_markdown("- a long item that needs two lines", 20),
            "• a long item that\n"
            "  needs two lines\n");
}

TEST(Markdown, ShowsCodeVerbatim) {
  EXPECT_EQ(shown_markdown("x:\n```cpp\nif (a) {\n\treturn \"b\";\n}\n```\nend"),
            "x:\n"
            "\n"
            "│ if (a) {\n"
            "│     return \"b\";\n"
            "│ }\n"
            "\n"
            "end\n");
}

TEST(Markdown, ColoursCode) {
  const auto lines = markdown_lines("```cpp\nauto x = f(12, \"a\");  // why\n```", 40);
  ASSERT_EQ(lines.size(), 1U);
  const auto style_of = [&lines](std::string_view text) {
    for (const Span& span : lines[0]) {
      if (span.text == text) {
        return span.style;
      }
    }
    ADD_FAILURE() << text;
    return Style{};
  };
  EXPECT_EQ(style_of("auto"), Style{.colour = Colour::magenta});
  EXPECT_EQ(style_of("12"), Style{.colour = Colour::cyan});
  EXPECT_EQ(style_of("\"a\""), Style{.colour = Colour::green});
  EXPECT_EQ(style_of("// why"), kDim);
}

TEST(Markdown, ShowsTablesInColumns) {
  EXPECT_EQ(
      shown_markdown("| a | **b** | n |\n|---|:-:|--:|\n| long one | 2 | 3 |\n| x |   | 1234 |"),
      "a        │ b │    n\n"
      "─────────┼───┼─────\n"
      "long one │ 2 │    3\n"
      "x        │   │ 1234\n");
}

TEST(Markdown, WrapsTheCellsOfAWideTable) {
  EXPECT_EQ(shown_markdown("| key | meaning |\n|---|---|\n| k | some words that need room |", 20),
            "key │ meaning       \n"
            "────┼───────────────\n"
            "k   │ some words    \n"
            "    │ that need room\n");
}

TEST(Markdown, ListsTheCellsOfATableThatDoesNotFit) {
  EXPECT_EQ(shown_markdown("|one|two|three|\n|---|---|---|\n|aaaaaa|bbbbbb|cccccc|\n|d|e|f|", 16),
            "one: aaaaaa\n"
            "two: bbbbbb\n"
            "three: cccccc\n"
            "\n"
            "one: d\n"
            "two: e\n"
            "three: f\n");
}

TEST(Markdown, ShowsHugeTablesAsSource) {
  std::string text = "|";
  for (int i = 0; i < 20'000; ++i) {
    text += "a|";
  }
  text += "\n|";
  for (int i = 0; i < 20'000; ++i) {
    text += "---|";
  }
  for (int i = 0; i < 20'000; ++i) {
    text += "\n|";
  }
  EXPECT_NE(shown_markdown(text, 80).find("|---|---|"), std::string::npos);
}

TEST(Markdown, QuotesAndNamesLinks) {
  EXPECT_EQ(shown_markdown("> said\n> so\n\n[here](http://a.b)"),
            "│ said\n"
            "│ so\n"
            "\n"
            "here (http://a.b)\n");
}

TEST(Markdown, StylesWords) {
  const auto lines = markdown_lines("a **b**", 20);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0], (Line{{"a ", kPlain}, {"b", kBold}}));
}

TEST(Markdown, IsNeverWiderThanTheScreen) {
  const std::string nested = std::string(40, '>') + " 1. a long line of words\n\n* b\n  * c\n";
  for (std::size_t width = 2; width <= 60; ++width) {
    for (const Line& line : markdown_lines(nested, width)) {
      EXPECT_LE(width_of(line), width) << text_of(line);
    }
  }
}

TEST(Markdown, LimitsTimeOnHostileText) {
  const std::string quotes(1 << 18, '>');
  EXPECT_FALSE(markdown_lines(quotes + " x", 80).empty());
  std::string lists;
  for (int i = 0; i < 2000; ++i) {
    lists += std::string(static_cast<std::size_t>(i % 400), ' ') + "- x\n";
  }
  EXPECT_FALSE(markdown_lines(lists, 80).empty());
  EXPECT_EQ(shown_markdown("\x1b[2J\xff"), "␛[2J\uFFFD\n");
}

}  // namespace
}  // namespace reprise::cli::app
