#include "cli/app/glyph.h"

#include <gtest/gtest.h>

#include <clocale>
#include <string>

namespace reprise::cli::app {
namespace {

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

TEST_F(GlyphTest, NeverExceedsTheCountedColumns) {
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
