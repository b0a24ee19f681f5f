#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace reprise::utf8 {
namespace {

TEST(Utf8, AcceptsExactlyTheCodePoints) {
  for (char32_t c = 0; c <= 0x110000; ++c) {
    std::string text = "1234567";  // so that the character crosses a word of the fast path
    append(text, c);
    const bool scalar = c < 0x110000 && (c < 0xD800 || c > 0xDFFF);
    ASSERT_EQ(is_valid(text), scalar) << std::hex << static_cast<std::uint32_t>(c);
    if (scalar) {
      ASSERT_EQ(decode(std::string_view(text).substr(7)).code_point, c);
    }
  }
}

TEST(Utf8, ReplacesEachMaximalBadPartOnce) {  // Unicode 15, table 3-8 and its neighbours
  EXPECT_EQ(sanitize("a\xC0\xAFz"), "a\uFFFD\uFFFDz");
  EXPECT_EQ(sanitize("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), "\uFFFD\uFFFD\uFFFD\uFFFD\x41");
  EXPECT_EQ(sanitize("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(sanitize("plain, \u00e4 and \U0001F600"), "plain, \u00e4 and \U0001F600");
}

TEST(Utf8, FindsTheIncompleteTail) {
  const std::string smile = "\U0001F600";
  for (std::size_t cut = 0; cut <= smile.size(); ++cut) {
    EXPECT_EQ(incomplete_tail("ab" + smile.substr(0, cut)), cut % 4) << cut;
  }
  EXPECT_EQ(incomplete_tail("ab\x80"), 0U);
  EXPECT_EQ(incomplete_tail("ab\xFF"), 0U);
  EXPECT_EQ(incomplete_tail(""), 0U);
}

}  // namespace
}  // namespace reprise::utf8
