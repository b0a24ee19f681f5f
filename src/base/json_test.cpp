#include <gtest/gtest.h>

#include <string>

#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/json_write.h"
#include "base/text.h"

namespace reprise {
namespace {

TEST(RawJson, PreservesTheText) {
  for (const char* text : {"1.0", "123456789012345678901234", "1e400", "-0", R"({"b":1, "a" : 2})",
                           R"("\u003c\ud83d\ude00")", "[]", "true", R"({"a":1,"a":2})"}) {
    const auto json = RawJson::parse(text);
    ASSERT_TRUE(json) << text;
    EXPECT_EQ(json->text(), text);
  }
  EXPECT_EQ(RawJson::parse(" \n[1]\t")->text(), "[1]");
}

TEST(RawJson, RejectsMalformedJson) {
  for (const char* text :
       {"",         " ",         "{",           "[1,]",  "{,}", "[,1]",    "[1 2]",
        R"({"a"})", R"({"a":})", R"({"a":1,})", "01",    "1.",  "1e",      "-",
        "+1",       ".5",        "tru",         "nul",   "\"",  "\"\\x\"", "\"\\u12g4\"",
        "\"a\nb\"", "1 2",       "\"\xff\"",    "{a:1}", "'a'", "NaN",     "[1]]"}) {
    const auto json = RawJson::parse(text);
    ASSERT_FALSE(json) << text;
    EXPECT_EQ(json.error().code, Code::invalid_argument) << text;
  }
}

TEST(RawJson, BoundsTheDepth) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(RawJson::parse(nested(kJsonDepthMax)));
  EXPECT_FALSE(RawJson::parse(nested(kJsonDepthMax + 1)));
  EXPECT_FALSE(RawJson::parse(std::string(10'000'000, '[')));
}

TEST(JsonScanner, FailsAtEveryTruncation) {
  const std::string document = R"({"a":[1,2.5e-3,"x\u00e4\ud83d\ude00"],"b":{"c":null,"d":true}})";
  ASSERT_TRUE(RawJson::parse(document));
  for (std::size_t cut = 0; cut < document.size(); ++cut) {
    EXPECT_FALSE(RawJson::parse(document.substr(0, cut))) << cut;
  }
}

TEST(JsonScanner, DecodesStrings) {
  std::string out;
  json::Scanner plain(R"("a\n\"\\\/\u00e4\ud83d\ude00 tail that is longer than one block")");
  ASSERT_TRUE(plain.string(out));
  EXPECT_EQ(out, "a\n\"\\/\u00e4\U0001F600 tail that is longer than one block");
  EXPECT_FALSE(plain.lossy());

  json::Scanner lone(R"("a\ud800b\udc00\ud800\u0041")");
  ASSERT_TRUE(lone.string(out));
  EXPECT_EQ(out, "a\uFFFDb\uFFFD\uFFFDA");
  EXPECT_TRUE(lone.lossy());

  // The second half of a pair is validated like any other escape.
  for (const char* const text : {R"("\ud800\u00zz")", R"("\ud800\u00")", R"("\ud800\u")"}) {
    json::Scanner broken(text);
    EXPECT_FALSE(broken.string(out)) << text;
  }

  json::Scanner bytes("\"a\xff\"");
  ASSERT_TRUE(bytes.string(out));
  EXPECT_EQ(out, "a\uFFFD");
  EXPECT_TRUE(bytes.lossy());
}

TEST(JsonScanner, AcceptsControlCharactersWhenAsked) {
  const std::string text = "{\"a\":\"line\nline\t\"}";
  EXPECT_FALSE(json::Scanner(text).skip());
  json::Scanner scanner(text, json::Controls::accepted);
  std::string value;
  EXPECT_TRUE(scanner.object([&](std::string_view) { return scanner.string(value); }));
  EXPECT_TRUE(scanner.end());
  EXPECT_EQ(value, "line\nline\t");
  EXPECT_FALSE(json::Scanner("{\"a\":\"line\n", json::Controls::accepted).skip());
}

TEST(JsonScanner, RejectsInexactIntegers) {
  std::int64_t out = 0;
  EXPECT_TRUE(json::Scanner("-9223372036854775808").integer(out));
  EXPECT_EQ(out, INT64_MIN);
  EXPECT_FALSE(json::Scanner("9223372036854775808").integer(out));
  EXPECT_FALSE(json::Scanner("1.0").integer(out));
}

TEST(JsonWriter, EscapesControlsAndQuotes) {
  EXPECT_EQ(json::quoted("a\"\\\n\x01\x7f\u00e4\u2028"), "\"a\\\"\\\\\\n\\u0001\x7f\u00e4\u2028\"");
  EXPECT_EQ(json::quoted("a\xff"), "\"a\uFFFD\"");
  EXPECT_EQ(json::quoted("\"a\xff\" \u00e4 tail that is longer than one block\n"),
            "\"\\\"a\uFFFD\\\" \u00e4 tail that is longer than one block\\n\"");
}

TEST(JsonWriter, RoundTripsAllTexts) {
  std::string text;
  for (int i = 0; i < 128; ++i) {
    text += static_cast<char>(i);
  }
  text += "\u00e4\U0001F600";
  for (std::size_t from = 0; from < text.size() - 6; ++from) {
    const std::string part = text.substr(from);
    const std::string quoted = json::quoted(part);
    std::string back;
    ASSERT_TRUE(json::Scanner(quoted).string(back));
    ASSERT_EQ(back, part);
  }
}

// All that a view returns of a value.
std::string shown(JsonView view) {
  std::string out = cat(view.raw(), "|", view.text(), "|", view.count());
  const auto [a, b] = view.members({"a", "b"});
  out += cat("(", view["a"].raw(), a.raw(), b.raw(), view["c"].raw(), ")");
  view.each([&](JsonView element) { out += cat("[", shown(element), "]"); });
  view.each_member([&](std::string_view name, JsonView value) {
    out += cat("{", name, ":", shown(value), "}");
  });
  return out;
}

TEST(JsonView, CopiesOnlyEscapedTexts) {
  for (const std::string_view plain :
       {R"("")", R"("abc")", "\"\x7F\"", R"("0123456789abcdefghij")"}) {
    std::string buffer = "unused";
    const std::string_view text = JsonView(plain).text(buffer);
    EXPECT_EQ(text, JsonView(plain).text());
    EXPECT_EQ(text.data(), plain.data() + 1);
    EXPECT_EQ(buffer, "unused");
  }
  for (const std::string_view other :
       {R"("a\nb")", R"("\"")", R"("é")", "\"\xFF\"", "12", "null", "", "[\"a\"]", R"("\)"}) {
    std::string buffer;
    EXPECT_EQ(JsonView(other).text(buffer), JsonView(other).text()) << other;
  }
}

TEST(JsonTape, MatchesViewsOfTheText) {
  JsonTape tape;
  for (const std::string& text :
       {std::string(R"({"a":1,"b":{"a":[],"":{}},"a":[ 1 ,"x\n",{"b":[[null]]}, true]} )"),
        std::string(R"( [1,{"a":"\u0041"}])"), std::string(R"({"\u0061":1,"b":[2]})"),
        std::string("{\"\xc3\xa4\":{\"a\":1}}"), std::string("{}"), std::string("\"x\""),
        "[" + std::string(1'000'000, '0').replace(0, 1, "1") + "]"}) {
    json::Scanner scanner(text);
    std::string_view value;
    ASSERT_TRUE(json::Scanner(text).raw(value));
    ASSERT_TRUE(tape.read(scanner)) << text.substr(0, 100);
    EXPECT_TRUE(scanner.end());
    EXPECT_EQ(tape.view().raw().data(), value.data());
    EXPECT_EQ(shown(tape.view()), shown(JsonView(value)));
  }
}

TEST(JsonTape, ReadsConsecutiveValues) {
  JsonTape tape;
  json::Scanner scanner(R"({"a":1} {"a":2})");
  ASSERT_TRUE(tape.read(scanner));
  EXPECT_EQ(tape.view()["a"].raw(), "1");
  ASSERT_TRUE(tape.read(scanner));
  EXPECT_EQ(tape.view()["a"].raw(), "2");
  EXPECT_EQ(tape.view().raw(), R"({"a":2})");
}

TEST(JsonTape, ReadsValuesBeyondItsLimit) {
  std::string many = "[0";
  for (int i = 1; i < 300'000; ++i) {
    many += ",0";
  }
  many += ",{\"a\":7}]";
  JsonTape tape;
  json::Scanner scanner(many);
  ASSERT_TRUE(tape.read(scanner));
  std::int64_t count = 0;
  std::int64_t last = 0;
  tape.view().each([&](JsonView element) {
    ++count;
    last = element["a"].count();
  });
  EXPECT_EQ(count, 300'001);
  EXPECT_EQ(last, 7);
}

TEST(JsonTape, RejectsMalformedJson) {
  JsonTape tape;
  for (const std::string& text :
       {std::string("{\"a\":"), std::string("{\"a\":1,}"), std::string("[1 2]"), std::string(),
        std::string(kJsonDepthMax + 1, '['), std::string("{\"a\":\"\\x\"}"),
        std::string("{\"a\":\"\\")}) {
    json::Scanner scanner(text);
    EXPECT_FALSE(tape.read(scanner)) << text.substr(0, 20);
    EXPECT_FALSE(tape.view());
  }
}

TEST(FindMember, ReturnsTheLastDuplicate) {
  EXPECT_EQ(json::find_member(R"({"a":1,"b":[2],"a":3})", "a"), "3");
  EXPECT_EQ(json::find_member(R"({"a":1})", "b"), "");
  EXPECT_EQ(json::find_member("[1]", "a"), "");
  EXPECT_EQ(json::find_member(R"({"a":1)", "a"), "");
}

}  // namespace

}  // namespace reprise

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

TEST(JsonPretty, IsIdempotent) {
  const std::string once = *pretty(R"([{"a":[[],[{}]],"b":"x\ny"},true,null,-0.5e-7])");
  EXPECT_EQ(*pretty(once), once);
}

TEST(JsonPretty, IndentsFromADepthOn) {
  EXPECT_EQ(*pretty("[1]", 2), "[\n      1\n    ]");
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
