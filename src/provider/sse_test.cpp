#include "provider/sse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/text.h"
#include "provider/reply_out.h"
#include "reprise/error.h"

namespace reprise::provider {
namespace {

using testing::ElementsAre;
using Events = std::vector<std::string>;

Events parse(const std::vector<std::string>& pieces) {
  Events events;
  SseParser parser;
  const auto take = [&](std::string_view name, std::string_view data) {
    events.push_back(cat(name, "|", data));
    return Result<>();
  };
  for (const std::string& piece : pieces) {
    EXPECT_TRUE(parser.feed(piece, take));
  }
  EXPECT_TRUE(parser.finish(take));
  return events;
}

TEST(SseParser, IsTheSameInAllTwoAndThreePartSplits) {
  const std::string stream =
      "\xEF\xBB\xBF"
      "data: a\n\n: comment\nevent: x\r\ndata:b\r\ndata:  c\r\n\r\n"
      "id: 7\rdata\rretry: 5\r\revent: only a name\n\ndata: last";
  const Events expected = {"|a", "x|b\n c", "|", "|last"};
  ASSERT_EQ(parse({stream}), expected);
  for (std::size_t i = 0; i <= stream.size(); ++i) {
    for (std::size_t j = i; j <= stream.size(); ++j) {
      ASSERT_EQ(parse({stream.substr(0, i), stream.substr(i, j - i), stream.substr(j)}), expected)
          << i << " " << j;
    }
  }
}

TEST(SseParser, BoundsAnEvent) {
  SseParser parser;
  const std::string megabyte(1 << 20, 'x');
  Result<> fed = parser.feed("data: ", [](auto, auto) { return Result<>(); });
  for (int i = 0; i < 100 && fed; ++i) {
    fed = parser.feed(megabyte, [](auto, auto) { return Result<>(); });
  }
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().code, Code::io);
}

TEST(DeltaText, HoldsBackIncompleteCharacters) {
  DeltaText pair;
  EXPECT_EQ(pair.decode(R"("a\ud83d")"), "a");
  EXPECT_EQ(pair.decode(R"("\ude00b")"), "\U0001F600b");
  EXPECT_EQ(pair.finish(), "");

  DeltaText lone;
  EXPECT_EQ(lone.decode(R"("a\uD83D")"), "a");
  EXPECT_EQ(lone.decode(R"("b")"),
            "\uFFFD"
            "b");
  EXPECT_EQ(lone.decode(R"("\ud83d")"), "");
  EXPECT_EQ(lone.finish(), "\uFFFD");

  DeltaText escaped;  // a backslash, then letters
  EXPECT_EQ(escaped.decode(R"("\\ud83d")"), R"(\ud83d)");
  EXPECT_EQ(escaped.decode(R"("\\\ud83d")"), "\\");

  DeltaText bytes;
  EXPECT_EQ(bytes.decode("\"x\xE4\xBD\""), "x");
  EXPECT_EQ(bytes.decode("\"\xA0y\""), "\u4f60y");
  EXPECT_EQ(bytes.decode("null"), "");
}

}  // namespace
}  // namespace reprise::provider
