#include "cli/app/screen.h"

#include <gtest/gtest.h>

#include "cli/markdown/style.h"

namespace reprise::cli::app {
namespace {

std::string wrapped(std::string_view text, std::size_t width) {
  std::string out;
  for (const Line& line : wrap_text(text, kPlain, width)) {
    out += text_of(line) + "|";
  }
  return out;
}

TEST(Screen, ClipsAtTheEdges) {
  Screen screen({2, 5});
  EXPECT_EQ(screen.put({0, 2}, "abcdef", kPlain), 5U);
  screen.put({2, 0}, "below", kPlain);
  screen.put({1, 9}, "beside", kPlain);
  EXPECT_EQ(screen.text(), "  abc\n\n");
}

TEST(Screen, PutsWideCharactersWholeOrNotAtAll) {
  Screen screen({1, 5});
  screen.put({0, 0}, "日本語", kPlain);
  EXPECT_EQ(screen.text(), "日本\n");
  EXPECT_EQ(screen.at({0, 0}).columns, 2);
  EXPECT_EQ(screen.at({0, 1}).columns, 0);
  screen.put({0, 1}, "x", kPlain);
  EXPECT_EQ(screen.text(), " x本\n");
  screen.put({0, 2}, "y", kPlain);
  EXPECT_EQ(screen.text(), " xy\n");
}

TEST(Screen, KeepsCombiningMarksWithTheirBase) {
  Screen screen({1, 4});
  screen.put({0, 0}, "e\u0301x", kPlain);
  EXPECT_EQ(screen.at({0, 0}).text, "e\u0301");
  EXPECT_EQ(screen.at({0, 1}).text, "x");
}

TEST(Screen, RemovesControlAndBidiCharacters) {
  Screen screen({1, 40});
  screen.put({0, 0}, "a\x1b[31mb\x07\u202ec\td\xff\u009b", kPlain);
  EXPECT_EQ(screen.text(), "a␛[31mb␇c d\uFFFD\uFFFD\n");
}

TEST(Wrap, BreaksBetweenWords) {
  EXPECT_EQ(wrapped("the quick brown fox", 10), "the quick|brown fox|");
  EXPECT_EQ(wrapped("a  b", 10), "a  b|");
  EXPECT_EQ(wrapped("the quick", 9), "the quick|");
  EXPECT_EQ(wrapped("the quick", 8), "the|quick|");
  EXPECT_EQ(wrapped("", 10), "|");
  EXPECT_EQ(wrapped("one\n\ntwo", 10), "one||two|");
}

TEST(Wrap, BreaksLongWordsWithinTheLine) {
  EXPECT_EQ(wrapped("abcdefghij klm", 4), "abcd|efgh|ij|klm|");
  EXPECT_EQ(wrapped("日本語です", 4), "日本|語で|す|");
  EXPECT_EQ(wrapped("日", 1), "日|");
}

TEST(Wrap, KeepsTheIndentOfTheFirstLineOnly) {
  EXPECT_EQ(wrapped("  if (x)", 20), "  if (x)|");
  EXPECT_EQ(wrapped("\tx", 20), "    x|");
  EXPECT_EQ(wrapped("ab\tx", 20), "ab  x|");
}

TEST(Wrap, WrapsALongLineInLinearTime) {
  const std::string line(1 << 20, 'x');
  EXPECT_EQ(wrap_text(line, kPlain, 80).size(), (line.size() + 79) / 80);
}

}  // namespace
}  // namespace reprise::cli::app
