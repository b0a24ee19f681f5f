#include "cli/repl/menu.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "reprise/session.h"

namespace reprise::cli {
namespace {

const Time kMenuTime = *parse_time("2026-03-10T12:00:00Z");

SessionInfo info_of(const char* mode, const std::string& title, Time updated) {
  return {.id = *SessionId::parse("a"), .title = title, .mode = mode, .updated_at = updated};
}

TEST(Menu, ShowsNumberModeTitleAndAge) {
  const std::vector<SessionInfo> sessions = {
      info_of("draft", "Mana base advice for FRF", kMenuTime - std::chrono::minutes(5)),
      info_of("", "", kMenuTime - std::chrono::hours(30)),
  };
  EXPECT_EQ(menu_text(sessions, kMenuTime, 80),
            "Recent conversations:\n\n1. [draft] Mana base advice for FRF  (5 min ago)\n"
            "2. Untitled  (yesterday)\n\n");
}

TEST(Menu, ShowsNoAgeForUnreadableDates) {
  const std::vector<SessionInfo> sessions = {info_of("", "a", Time{})};
  EXPECT_EQ(menu_text(sessions, kMenuTime, 80), "Recent conversations:\n\n1. a  (no date)\n\n");
}

TEST(Menu, SanitizesTitles) {
  const std::vector<SessionInfo> sessions = {
      info_of("m\x1b[2J", "a\x1b]0;owned\x07\nb" + std::string(200, 'x'), kMenuTime)};
  const std::string text = menu_text(sessions, kMenuTime, 80);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  EXPECT_EQ(std::ranges::count(text, '\n'), 4) << "two of the heading, two at the end: " << text;
  EXPECT_TRUE(text.ends_with("...  (just now)\n\n")) << text;
}

TEST(Menu, CutsTitlesByColumns) {
  std::string wide;
  for (int i = 0; i < 60; ++i) {
    wide += "日";
  }
  const std::vector<SessionInfo> sessions = {info_of("", wide, kMenuTime)};
  // 40 columns: "1. " and "  (just now)" take 15, "..." 3; 11 wide characters fit.
  std::string expected = "Recent conversations:\n\n1. ";
  for (int i = 0; i < 11; ++i) {
    expected += "日";
  }
  EXPECT_EQ(menu_text(sessions, kMenuTime, 40), expected + "...  (just now)\n\n");
}

TEST(Menu, AcceptsOnlyPlainNumbersInRange) {
  using Kind = MenuAnswer::Kind;
  EXPECT_EQ(parse_menu_answer("1", 2).kind, Kind::number);
  EXPECT_EQ(parse_menu_answer(" 2 \r", 2).index, 1U);
  EXPECT_EQ(parse_menu_answer("q", 2).kind, Kind::cancel);
  EXPECT_EQ(parse_menu_answer("Q", 2).kind, Kind::cancel);
  for (const char* wrong : {"", "0", "3", "-1", "+1", "1.0", "1a", "01", "1 2", "one", "quit",
                            "99999999999999999999999999", "1e0", "0x1", "\xd9\xa1"}) {
    EXPECT_EQ(parse_menu_answer(wrong, 2).kind, Kind::invalid) << wrong;
  }
}

}  // namespace
}  // namespace reprise::cli
