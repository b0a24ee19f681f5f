#include "base/grapheme.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace reprise {
namespace {

TEST(Grapheme, FindsGraphemeClusters) {
  EXPECT_EQ(first_grapheme(""), 0U);
  EXPECT_EQ(first_grapheme("ab"), 1U);
  EXPECT_EQ(first_grapheme("e\u0301x"), 3U);  // e + accent
  EXPECT_EQ(first_grapheme("👩‍👩‍👧x"),
            std::string("👩‍👩‍👧").size());  // a family
  EXPECT_EQ(first_grapheme("🇨🇭🇩🇪"), 8U);
  EXPECT_EQ(first_grapheme("\xFF\xFE"), 1U);
}

TEST(Grapheme, PrefixNeverCutsACharacter) {
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
