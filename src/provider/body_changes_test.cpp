#include "provider/body_changes.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace reprise::provider {
namespace {

constexpr std::string_view kHead =
    R"({"model":"m","max_tokens":9000,"stream":true,"temperature":0.7,"seed":1,)"
    R"("include":["x"],"reasoning":{"effort":"low","summary":"auto"},)"
    R"("output_config":{"format":{},"effort":"low"},"tools":[],"stop":["a"]})";

std::string left_out_by(std::string_view answer, int status = 400) {
  const auto adjustment = adjust({}, {kHead, status, answer});
  return adjustment ? adjustment->left_out : "nothing";
}

std::string openai(std::string_view message, std::string_view code, std::string_view param) {
  return cat(R"({"error":{"message":")", message, R"(","code":")", code, R"(","param":)",
             param.empty() ? std::string("null") : cat('"', param, '"'), "}}");
}

TEST(BodyChanges, ARefusalNamesTheRemovedParameter) {
  for (const auto& answer : {
           openai("Unsupported parameter: 'temperature' is not supported with this model.",
                  "unsupported_parameter", "temperature"),
           openai("Unsupported value: 'temperature' does not support 0.7 with this model. Only the "
                  "default (1) value is supported.",
                  "unsupported_value", "temperature"),
           std::string(R"({"type":"error","error":{"type":"invalid_request_error",)"
                       R"("message":"`temperature` is deprecated for this model."}})"),
           std::string(R"({"type":"error","error":{"type":"invalid_request_error",)"
                       R"("message":"temperature: Extra inputs are not permitted"}})"),
           std::string(R"({"error":"unknown field temperature"})"),
           std::string(R"({"message":"This model does not support temperature"})"),
           std::string(R"({"detail":[{"loc":["body","temperature"],)"
                       R"("msg":"Extra inputs are not permitted"}]})"),
           std::string(R"({"error":{"message":"invalid temperature: only 1 is allowed for this )"
                       R"(model","type":"invalid_request_error"}})"),
           std::string(R"({"object":"error","message":{"detail":[{"type":"extra_forbidden",)"
                       R"("loc":["body","temperature"],"msg":"Extra inputs are not permitted",)"
                       R"("input":1}]},"type":"invalid_request_error"})"),
           std::string(R"({"object":"error","message":"{\"detail\":[{\"type\":\"extra_forbidden\",)"
                       R"(\"loc\":[\"body\",\"temperature\"],\"msg\":\"Extra inputs are not )"
                       R"(permitted\"}]}"})"),
           std::string(R"({"type":"error","error":{"type":"invalid_request_error","message":)"
                       R"("`temperature` and `top_p` cannot both be specified for this model. )"
                       R"(Please use only one."}})"),
           // Passed on by OpenRouter.
           std::string(R"({"error":{"message":"Provider returned error","code":400,"metadata":)"
                       R"({"raw":"{\"error\":{\"message\":\"Unsupported parameter: 'temperature' )"
                       R"(is not supported with this model.\",\"param\":\"temperature\"}}"}}})"),
       }) {
    EXPECT_EQ(left_out_by(answer), "temperature") << answer;
    EXPECT_EQ(left_out_by(answer, 422), "temperature") << answer;
    EXPECT_EQ(left_out_by(answer, 500), "nothing") << answer;
  }
  EXPECT_EQ(left_out_by(openai("not supported", "unsupported_value", "reasoning.summary")),
            "reasoning.summary");
  EXPECT_EQ(left_out_by(openai("'output_config.effort' is not supported", "", "")),
            "output_config.effort");
}

TEST(BodyChanges, RequiredOrInvalidParametersAreKept) {
  for (const auto& answer : {
           openai("Unsupported parameter: 'model'", "unsupported_parameter", "model"),
           openai("'tools' is not supported with this model", "unsupported_parameter", "tools"),
           openai("'stop' is not supported with this model", "unsupported_parameter", "stop"),
           openai("'output_config.format' is not supported", "", ""),
           openai("'top_p' is not supported with this model", "unsupported_parameter", "top_p"),
           openai("Invalid 'temperature': decimal above maximum", "decimal_above_max_value",
                  "temperature"),
           std::string(R"({"error":{"message":"temperature: range: 0..1"}})"),
           std::string(R"({"error":{"message":"images that include text are not supported"}})"),
           std::string("<html>temperature is not supported</html>"),
           std::string(),
       }) {
    EXPECT_EQ(left_out_by(answer), "nothing") << answer;
  }
}

TEST(BodyChanges, EachIsLeftOutOnce) {
  const std::string answer = openai("no", "unsupported_parameter", "temperature");
  const auto first = adjust({}, {kHead, 400, answer});
  ASSERT_TRUE(first);
  const std::string head = changed_head(kHead, first->changes);
  EXPECT_EQ(head.find("temperature"), std::string::npos);
  EXPECT_NE(head.find(R"("seed":1)"), std::string::npos);
  EXPECT_FALSE(adjust(first->changes, {head, 400, answer}));
}

TEST(BodyChanges, MembersOfAParameterAreRemovedAlone) {
  EXPECT_EQ(changed_head(R"({"reasoning":{"effort":"low","summary":"auto"},"a":{}})",
                         {.left_out = {"reasoning.summary"}}),
            R"({"reasoning":{"effort":"low"},"a":{}})");
  EXPECT_EQ(changed_head(R"({"reasoning":{"summary":"auto"},"a":1})",
                         {.left_out = {"reasoning.summary"}}),
            R"({"a":1})");
}

TEST(BodyChanges, TheLimitOfTheAnswerHasTwoNames) {
  const std::string answer = openai(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
      "'max_completion_tokens' instead.",
      "unsupported_parameter", "max_tokens");
  const std::string_view head = R"({"model":"m","max_tokens":5})";
  const auto adjustment = adjust({}, {head, 400, answer});
  ASSERT_TRUE(adjustment);
  EXPECT_EQ(adjustment->left_out, "");
  const std::string renamed = changed_head(head, adjustment->changes);
  EXPECT_EQ(renamed, R"({"model":"m","max_completion_tokens":5})");
  EXPECT_EQ(changed_head(R"({"max_completion_tokens":5})", adjustment->changes),
            R"({"max_tokens":5})");
  EXPECT_FALSE(
      adjust(adjustment->changes,
             {renamed, 400,
              openai("Unrecognized request argument supplied: max_completion_tokens", "", "")}))
      << "once";
}

TEST(BodyChanges, TheDefaultLimitIsLoweredToTheModels) {
  const std::string_view answer =
      R"({"type":"error","error":{"type":"invalid_request_error","message":)"
      R"("max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens for m"}})";
  const auto adjustment = adjust({}, {kHead, 400, answer, true});
  ASSERT_TRUE(adjustment);
  EXPECT_EQ(adjustment->changes.max_tokens, 8192);
  EXPECT_NE(changed_head(kHead, adjustment->changes).find(R"("max_tokens":8192,)"),
            std::string::npos);
  EXPECT_FALSE(adjust({}, {kHead, 400, answer, false})) << "a person has asked for it";
}

TEST(BodyChanges, TheDefaultLimitIsLoweredToWhatTheInputLeaves) {
  const std::string_view answer =
      R"({"type":"error","error":{"type":"invalid_request_error","message":)"
      R"("input length and `max_tokens` exceed context limit: 190000 + 9000 > 195000, decrease"}})";
  const auto adjustment = adjust({}, {kHead, 400, answer, true});
  ASSERT_TRUE(adjustment);
  EXPECT_EQ(adjustment->changes.max_tokens, 5000);
}

}  // namespace
}  // namespace reprise::provider
