#include "engine/schema_check.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

std::string why(std::string_view answer, std::string_view schema) {
  return schema_mismatch(answer, *RawJson::parse(std::string(schema)));
}

TEST(SchemaCheck, SaysWhatDoesNotMatch) {
  struct Case {
    std::string_view answer;
    std::string_view schema;
    std::string_view why;
  };
  constexpr Case kCases[] = {
      {"Sure, here it is", "{}", "it is not JSON"},
      {" {\"a\":1}\n", R"({"type":"object","required":["a"]})", ""},
      {"{}", R"({"required":["a"]})", "$.a is missing"},
      {R"({"a":{"b":"x"}})", R"({"properties":{"a":{"properties":{"b":{"type":"integer"}}}}})",
       "$.a.b is not of type integer"},
      {R"({"a":1.0})", R"({"properties":{"a":{"type":"integer"}}})", ""},
      {R"({"a":null})", R"({"properties":{"a":{"type":["string","null"]}}})", ""},
      {R"({"a":1,"b":2})", R"({"properties":{"a":{}},"additionalProperties":false})",
       "$.b is not allowed"},
      {"[1,\"x\"]", R"({"items":{"type":"number"}})", "$[1] is not of type number"},
      {"\"c\"", R"({"enum":["a","b"]})", "$ is none of the values allowed"},
      {"2", R"({"const":1})", "$ is not the value expected"},
      {"7", R"({"minimum":1,"maximum":5})", "$ is outside of its limits"},
      {"\"\u00e4\u00e4\"", R"({"maxLength":2})", ""},
      {"[]", R"({"minItems":1})", "$ is outside of its limits"},
      {"true", R"({"anyOf":[{"type":"string"},{"type":"null"}]})",
       "$ matches none of the forms allowed"},
      {"true", R"({"oneOf":[{"type":"boolean"},{"const":true}]})",
       "$ matches several of the forms allowed"},
      {R"({"a":{"a":1}})",
       R"({"$defs":{"n":{"properties":{"a":{"$ref":"#/$defs/m"}}},"m":{"type":"object"}},"$ref":"#/$defs/n"})",
       ""},
      {R"({"a":1})", R"({"$defs":{"m":{"type":"object"}},"properties":{"a":{"$ref":"#/$defs/m"}}})",
       "$.a is not of type object"},
      {"1", R"({"$ref":"#"})", ""},
      {R"({"a":1})",
       R"({"type":"object","properties":{"a":{"$ref":"https://x/y"}},"required":["b"]})",
       "$.b is missing"},
      {R"({"a":1})", R"({"properties":{"a":{"$ref":"#name"}},"required":["a"]})", ""},
      {"1", R"({"anyOf":[{"$ref":"#"},{"$ref":"#"}]})", ""},
  };
  for (const Case& one : kCases) {
    EXPECT_EQ(why(one.answer, one.schema), one.why) << one.answer << " " << one.schema;
  }
}

}  // namespace
}  // namespace reprise
