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

}  // namespace
}  // namespace reprise::cli::app
