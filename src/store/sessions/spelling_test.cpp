#include "store/sessions/spelling.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>

#include "base/json_write.h"

namespace reprise::store::sessions {
namespace {

std::string respell(std::string_view json) {
  const auto text = formatted(json);
  return text ? *text : text.error().message;
}

// Expected values are from Erlang's float_to_binary(X, [short]).
TEST(FloatText, MatchesErlang) {
  EXPECT_EQ(float_text(0.0), "0.0");
  EXPECT_EQ(float_text(-0.0), "-0.0");
  EXPECT_EQ(float_text(0.7), "0.7");
  EXPECT_EQ(float_text(1.0), "1.0");
  EXPECT_EQ(float_text(-2.5), "-2.5");
  EXPECT_EQ(float_text(100.0), "100.0");
  EXPECT_EQ(float_text(1000.0), "1.0e3") << "one digit: the shorter form";
  EXPECT_EQ(float_text(12340.0), "12340.0");
  EXPECT_EQ(float_text(123400.0), "1.234e5");
  EXPECT_EQ(float_text(1234567890.0), "1234567890.0");
  EXPECT_EQ(float_text(12345678900.0), "12345678900.0") << "both forms are as long: the plain one";
  EXPECT_EQ(float_text(0.0001), "0.0001");
  EXPECT_EQ(float_text(0.00001), "1.0e-5");
  EXPECT_EQ(float_text(0.001729), "0.001729");
  EXPECT_EQ(float_text(0.000105), "1.05e-4");
  EXPECT_EQ(float_text(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(float_text(9007199254740991.0), "9007199254740991.0");
  EXPECT_EQ(float_text(9007199254740992.0), "9.007199254740992e15");
  EXPECT_EQ(float_text(5e-324), "5.0e-324");
  EXPECT_EQ(float_text(std::numeric_limits<double>::max()), "1.7976931348623157e308");
}

TEST(Respelled, SortsAndIndents) {
  EXPECT_EQ(respell(R"({"b":[1,{}],"a":{"d":[],"c":null}})"),
            "{\n"
            "  \"a\": {\n"
            "    \"c\": null,\n"
            "    \"d\": []\n"
            "  },\n"
            "  \"b\": [\n"
            "    1,\n"
            "    {}\n"
            "  ]\n"
            "}");
  EXPECT_EQ(respell(" [ ] "), "[]");
  EXPECT_EQ(respell("{\"B\":1,\"a\":2,\"\xC3\xA4\":3}"),
            "{\n  \"B\": 1,\n  \"a\": 2,\n  \"\xC3\xA4\": 3\n}")
      << "by bytes";
  const auto deeper = formatted("[1]", 2);
  ASSERT_TRUE(deeper);
  EXPECT_EQ(*deeper, "[\n      1\n    ]");
}

TEST(Respelled, SpellsNumbers) {
  EXPECT_EQ(respell("1.0"), "1.0");
  EXPECT_EQ(respell("1e3"), "1.0e3");
  EXPECT_EQ(respell("1.50E+00"), "1.5");
  EXPECT_EQ(respell("0.000105"), "1.05e-4");
  EXPECT_EQ(respell("-0"), "0");
  EXPECT_EQ(respell("-0.0"), "-0.0");
  EXPECT_EQ(respell("123456789012345678901234"), "123456789012345678901234");
  EXPECT_EQ(respell("0.1234567890123456789012"), "0.12345678901234568");
  EXPECT_EQ(respell("1e999"), "1e999") << "no float can hold it";
}

TEST(Respelled, SpellsStrings) {
  EXPECT_EQ(respell(R"("\u00e9\/\u0041")"), "\"\xC3\xA9/A\"");
  EXPECT_EQ(respell(R"("\u001f\u000A\u0008\t\"\\")"), R"("\u001F\n\b\t\"\\")");
  EXPECT_EQ(respell(R"("\ud83d\ude00")"), "\"\xF0\x9F\x98\x80\"");
  EXPECT_EQ(respell("\"\x7F\""), "\"\x7F\"");
  EXPECT_EQ(respell("{\"\\u0061\":1}"), "{\n  \"a\": 1\n}") << "in keys, too";
}

TEST(Respelled, UsesTheLastOfDuplicateKeys) {
  EXPECT_EQ(respell(R"({"a":1,"b":2,"a":3})"), "{\n  \"a\": 3,\n  \"b\": 2\n}");
}

TEST(Respelled, LeavesLargeObjectsInTheirOrder) {
  std::string json = "{";
  for (int i = 33; i > 0; --i) {
    json +=
        (i == 33 ? "\n  \"k" : ",\n  \"k") + std::to_string(100 + i) + "\": " + std::to_string(i);
  }
  json += "\n}";
  EXPECT_EQ(respell(json), json);
}

TEST(Respelled, RefusesInvalidJson) {
  for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "tru", "1 2", "\"\x01\""}) {
    EXPECT_FALSE(formatted(text)) << text;
  }
}

TEST(Respelled, RefusesWhatIndentationWouldBlowUp) {
  std::string elements = "1";
  for (int i = 0; i < 10'000; ++i) {
    elements += ",1";
  }
  const std::string deep = std::string(400, '[') + elements + std::string(400, ']');
  EXPECT_EQ(formatted(deep).error().code, Code::unsupported);
  EXPECT_EQ(json::pretty(deep).error().code, Code::unsupported);
  EXPECT_TRUE(formatted(std::string(40, '[') + elements + std::string(40, ']')));
  EXPECT_TRUE(formatted(std::string(400, '[') + std::string(400, ']')));
}

TEST(AppendString, ReplacesInvalidUtf8) {
  std::string out;
  append_string(out, "a\xFF");
  EXPECT_EQ(out, "\"a\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace reprise::store::sessions
