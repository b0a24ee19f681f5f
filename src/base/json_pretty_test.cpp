#include "base/json_pretty.h"

#include <gtest/gtest.h>

#include <string>

namespace reprise::json {
namespace {

TEST(JsonPretty, KeepsSpellingAndOrder) {
  EXPECT_EQ(*pretty(R"({"b":1.0,"a":[ 1e2,{"x":"\u00e4"} ],"c":[],"d":{ }})"),
            R"({
  "b": 1.0,
  "a": [
    1e2,
    {
      "x": "\u00e4"
    }
  ],
  "c": [],
  "d": {}
})");
}

TEST(JsonPretty, SortsByBytesAtEveryDepth) {
  EXPECT_EQ(*pretty(R"({"b":{"z":1,"Z":2},"a":null})", {.order = KeyOrder::by_bytes}),
            "{\n  \"a\": null,\n  \"b\": {\n    \"Z\": 2,\n    \"z\": 1\n  }\n}");
}

TEST(JsonPretty, IsItsOwnFixedPoint) {
  const std::string once = *pretty(R"([{"a":[[],[{}]],"b":"x\ny"},true,null,-0.5e-7])");
  EXPECT_EQ(*pretty(once), once);
}

TEST(JsonPretty, IndentsFromADepthOn) {
  EXPECT_EQ(*pretty("[1]", {.depth = 2}), "[\n      1\n    ]");
}

TEST(JsonCompact, RemovesWhitespaceBetweenTokens) {
  EXPECT_EQ(compact(" {\n\t\"a b\" : [ 1.0 , \"\\\" \\\\\" , { } ]\r\n} "),
            "{\"a b\":[1.0,\"\\\" \\\\\",{}]}");
  EXPECT_EQ(compact("null"), "null");
}

TEST(JsonPretty, RejectsMalformedJson) {
  for (const char* text : {"", "{", "[1,]", "1 2"}) {
    const auto out = pretty(text);
    ASSERT_FALSE(out) << text;
    EXPECT_EQ(out.error().code, Code::corrupt);
  }
  EXPECT_FALSE(pretty(std::string(100'000, '[') + std::string(100'000, ']')));
}

}  // namespace
}  // namespace reprise::json
