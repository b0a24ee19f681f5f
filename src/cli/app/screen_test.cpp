#include "cli/app/screen.h"

#include <gtest/gtest.h>

#include <clocale>
#include <string>

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

TEST(Screen, OmitsWideCharactersThatDoNotFit) {
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

std::wstring glyph_text(std::string_view text, int columns) {
  return glyph_of(text, columns).characters.data();
}

class GlyphTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr); }
  void TearDown() override { std::setlocale(LC_CTYPE, "C"); }
};

TEST_F(GlyphTest, KeepsABaseAndItsMarks) {
  EXPECT_EQ(glyph_text("a", 1), L"a");
  EXPECT_EQ(glyph_text("e\u0301", 1), L"e\u0301");
  EXPECT_EQ(glyph_text("日", 2), L"日");
}

TEST_F(GlyphTest, ShowsTheFirstOfJoinedEmoji) {
  EXPECT_EQ(glyph_text("👨\u200d👩\u200d👧", 2), L"👨");
  EXPECT_EQ(glyph_text("❤\ufe0f", 2), L"❤");
}

TEST_F(GlyphTest, LimitsCombiningMarks) {
  std::string text = "a";
  for (int i = 0; i < 100; ++i) {
    text += "\u0301";
  }
  EXPECT_EQ(glyph_of(text, 1).length, kGlyphCharacters);
}

TEST_F(GlyphTest, FitsTheCountedColumns) {
  EXPECT_EQ(glyph_text("日", 1), L"?");
  EXPECT_EQ(glyph_text("\u0301", 1), L"?");
}

class JoinedTest : public GlyphTest {};

std::string row_of(std::string_view text, std::size_t columns, Style style = kPlain) {
  Screen screen({1, columns});
  screen.put({0, 0}, text, style);
  const auto rows = joined_rows(screen, true);
  return rows.empty() ? "" : rows.begin()->second;
}

TEST_F(JoinedTest, SkipsCharactersThatNcursesCanShow) {
  EXPECT_EQ(row_of("plain, e\u0301, 日本, 😀", 40), "");
}

TEST_F(JoinedTest, RewritesTheCharacterAndTheFollowingCells) {
  EXPECT_EQ(row_of("👩\u200d💻ab", 10, {.bold = true}),
            "\x1b[1;1H\x1b[0;1m👩\u200d💻"
            "\x1b[1;3H\x1b[0;1ma\x1b[1;4H\x1b[0;1mb");
  EXPECT_EQ(row_of("x🇩🇪", 10), "\x1b[1;2H\x1b[0m🇩🇪\x1b[1;4H\x1b[0m \x1b[1;5H\x1b[0m ");
  EXPECT_EQ(row_of("👍🏽", 10, {.colour = Colour::red}),
            "\x1b[1;1H\x1b[0;31m👍🏽\x1b[1;3H\x1b[0m \x1b[1;4H\x1b[0m ");
  EXPECT_EQ(row_of("❤\ufe0f", 10), "\x1b[1;1H\x1b[0m❤\ufe0f");
}

TEST_F(JoinedTest, ShowsOnlyTheFirstPartNearTheEdge) {
  EXPECT_EQ(row_of("ab👩\u200d💻", 4), "");
  EXPECT_NE(row_of("ab👩\u200d💻", 6), "");
}

TEST_F(JoinedTest, LimitsCombiningMarks) {
  std::string text = "❤\ufe0f";
  for (int i = 0; i < 100; ++i) {
    text += "\u0301";
  }
  EXPECT_EQ(row_of(text, 10), "");
}

}  // namespace

}  // namespace reprise::cli::app
