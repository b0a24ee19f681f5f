#include "base/terminal_text.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace reprise {
namespace {

TEST(TerminalText, ShowsControlsAsPictures) {
  EXPECT_EQ(terminal_text("a\x1b[31mred\x1b[0m"), "a␛[31mred␛[0m");
  EXPECT_EQ(terminal_text("\x1b]0;title\x07"), "␛]0;title␇");
  EXPECT_EQ(terminal_text("\x1bP q \x1b\\"), "␛P q ␛\\");
  EXPECT_EQ(terminal_text("back\x08\x7f"), "back␈␡");
  EXPECT_EQ(terminal_text(std::string_view("nul\0!", 5)), "nul␀!");
}

TEST(TerminalText, KeepsLinesAndTabs) {
  EXPECT_EQ(terminal_text("a\tb\nc\r\nd"), "a\tb\nc\nd");
  EXPECT_EQ(terminal_text("over\rwritten"), "over␍written");
  EXPECT_EQ(terminal_line("a\tb\nc\r\nd"), "a b c d");
}

TEST(TerminalText, LeavesNoC1ControlWhetherEncodedOrRaw) {
  EXPECT_EQ(terminal_text("\xC2\x9B"
                          "31m"),
            "\xEF\xBF\xBD"
            "31m");
  EXPECT_EQ(terminal_text("\x9B"
                          "31m"),
            "\xEF\xBF\xBD"
            "31m");
  EXPECT_EQ(terminal_text("\xE0\x9B"
                          "A"),
            "\xEF\xBF\xBD\xEF\xBF\xBD"
            "A");
}

TEST(TerminalText, RemovesBidiControlsAndInvisibleCharacters) {
  EXPECT_EQ(terminal_text("abc\u202Etxt.exe\u202C"), "abctxt.exe");
  EXPECT_EQ(terminal_text("a\u2066b\u2069c\u200Bd\uFEFFe"), "abcde");
  EXPECT_EQ(terminal_text("\U000E0041tag"), "tag");
}

TEST(TerminalText, KeepsJoinersWideCharactersAndAccents) {
  const std::string_view text = "👩‍👩‍👧 日本語 e\u0301 می‌خواهم";
  EXPECT_EQ(terminal_text(text), text);
}

TEST(TerminalText, EscapesInJsonWithoutChangingIt) {
  EXPECT_EQ(terminal_json("{\"a\":\"\xC2\x9B\u202E\x7f\U000E0041é\"}\n"),
            "{\"a\":\"\\u009b\\u202e\\u007f\\udb40\\udc41é\"}\n");
}

// The result does not depend on how the text is cut, and never has a control character.
TEST(TerminalSanitizer, SanitizesAcrossEverySplit) {
  const std::string text = "x\x1b]8;;http://e\x1b\\ é\r\n日\xC2\x9B!\x9B\xF0\x9F\x98";
  const std::string expected = terminal_text(text);
  for (std::size_t first = 0; first <= text.size(); ++first) {
    for (std::size_t second = first; second <= text.size(); ++second) {
      TerminalSanitizer gate;
      std::string out = gate.pass(text.substr(0, first));
      out += gate.pass(text.substr(first, second - first));
      out += gate.pass(text.substr(second));
      out += gate.finish();
      ASSERT_EQ(out, expected) << "cut at " << first << " and " << second;
    }
  }
  EXPECT_TRUE(utf8::is_valid(expected));
}

TEST(Grapheme, FindsGraphemeClusters) {
  EXPECT_EQ(first_grapheme(""), 0U);
  EXPECT_EQ(first_grapheme("ab"), 1U);
  EXPECT_EQ(first_grapheme("e\u0301x"), 3U);  // e + accent
  EXPECT_EQ(first_grapheme("👩‍👩‍👧x"),
            std::string("👩‍👩‍👧").size());  // a family
  EXPECT_EQ(first_grapheme("🇨🇭🇩🇪"), 8U);
  EXPECT_EQ(first_grapheme("\xFF\xFE"), 1U);
}

TEST(Grapheme, PrefixesEndBetweenCharacters) {
  const std::string text = "aé👩‍👩‍👧🇨🇭中";
  const std::string_view parts[] = {"",
                                    "a",
                                    "aé",
                                    "aé👩‍👩‍👧",
                                    "aé👩‍👩‍👧🇨🇭",
                                    "aé👩‍👩‍👧🇨🇭中"};
  for (std::size_t i = 0; i < std::size(parts); ++i) {
    EXPECT_EQ(grapheme_prefix(text, i), parts[i]);
  }
  EXPECT_EQ(grapheme_prefix(text, 99), text);
}

TEST(Grapheme, WidthInColumns) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("中文"), 4U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("🇨🇭"), 2U);
  EXPECT_EQ(display_width("👩‍👩‍👧"), 2U);
  EXPECT_EQ(display_width("❤️"), 2U);
  EXPECT_EQ(display_width("\xFF"), 1U);
  EXPECT_EQ(width_prefix("a中b", 2), "a");
  EXPECT_EQ(width_prefix("a中b", 3), "a中");
  EXPECT_EQ(width_prefix("a中b", 9), "a中b");
}

}  // namespace

}  // namespace reprise
