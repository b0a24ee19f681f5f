#include <gtest/gtest.h>

#include <cstddef>
#include <memory>

#include "base/json_write.h"
#include "base/text.h"
#include "fake_provider/answer.h"
#include "fake_provider/fake_provider.h"
#include "fake_provider/json_value.h"
#include "fake_provider/raw_client.h"

namespace reprise::fake {
namespace anthropic {
namespace {

constexpr std::string_view kTools =
    R"("tools":[{"name":"look","description":"d","input_schema":{"type":"object"}}])";
constexpr std::string_view kUser = R"({"role":"user","content":"x"})";
constexpr std::string_view kCall =
    R"({"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"look","input":{}}]})";
constexpr std::string_view kResult =
    R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"r"}]})";

class AnthropicTest : public testing::Test {
 protected:
  RawReply send(std::string_view body) {
    return ask(server_->port(), post("/v1/messages", body, "anthropic-version: 2023-06-01\r\n"));
  }
  RawReply say(std::string_view messages, std::string_view more = "") {
    return send(cat(R"({"model":"m","max_tokens":100,"messages":[)", messages, "]",
                    more.empty() ? "" : ",", more, "}"));
  }
  std::string refusal(const RawReply& reply) {
    EXPECT_EQ(reply.status, 400) << reply.body;
    EXPECT_EQ(server_->violations().size(), ++refusals_);
    const auto body = parse_value(reply.body);
    EXPECT_TRUE(body && body->find("error").find("type").text == "invalid_request_error");
    return body ? body->find("error").find("message").text : cat("no JSON: ", reply.body);
  }

  std::unique_ptr<FakeProvider> server_ = *FakeProvider::start({.port = 0, .key = "", .seed = 1});
  std::size_t refusals_ = 0;
};

TEST_F(AnthropicTest, AnswersWithThinkingTextAndCalls) {
  const auto reply =
      say(R"({"role":"user","content":"think preface call:look {\"a\":1.0}"})", kTools);
  ASSERT_EQ(reply.status, 200) << reply.body;
  const auto body = parse_value(reply.body);
  const auto& content = body->find("content").items;
  ASSERT_EQ(content.size(), 3U) << reply.body;
  EXPECT_EQ(content[0].find("type").text, "thinking");
  EXPECT_FALSE(content[0].find("signature").text.empty());
  EXPECT_TRUE(content[1].find("text").text.starts_with("let me look"));
  EXPECT_EQ(content[2].find("input").find("a").text, "1.0");
  EXPECT_EQ(body->find("stop_reason").text, "tool_use");
  EXPECT_GT(body->find("usage").find("output_tokens").number(), 0);
}

// Streamed parts can be sent back: the thinking with its signature, the calls.
TEST_F(AnthropicTest, StreamsWhatItAcceptsBack) {
  const std::string question = R"({"role":"user","content":"think call:look {\"ä\":\"漢\"}"})";
  const auto reply = say(question, cat(R"("stream":true,)", kTools));
  ASSERT_TRUE(reply.complete);
  std::string thinking;
  std::string signature;
  std::string input;
  std::string id;
  for (const std::string& event : reply.events()) {
    const auto value = parse_value(event);
    ASSERT_TRUE(value) << event;
    const Value& delta = value->find("delta");
    thinking += delta.find("thinking").text;
    signature += delta.find("signature").text;
    input += delta.find("partial_json").text;
    id += value->find("content_block").find("id").text;
  }
  EXPECT_EQ(input, R"({"ä":"漢"})");
  const auto history = [&](std::string_view proof) {
    return cat(question, R"(,{"role":"assistant","content":[{"type":"thinking","thinking":)",
               json::quoted(thinking), R"(,"signature":)", json::quoted(proof),
               R"(},{"type":"tool_use","id":")", id, R"(","name":"look","input":)", input,
               R"(}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":")", id,
               R"(","content":[{"type":"text","text":"seen"}]}]})");
  };
  const auto last = say(history(signature), kTools);
  EXPECT_NE(last.body.find(cat("answer 3 after 1 results (", fingerprint("seen"), ")")),
            std::string::npos)
      << last.body;
  EXPECT_TRUE(server_->violations().empty());
  EXPECT_EQ(refusal(say(history("forged"), kTools)),
            "messages.1.content.0: invalid `signature` in `thinking` block");
}

TEST_F(AnthropicTest, RefusesUnpairedCallsAndResults) {
  EXPECT_EQ(
      refusal(say(cat(kUser, ",", kCall))),
      "the end: `tool_use` ids were found without `tool_result` blocks immediately after: t1");
  EXPECT_NE(refusal(say(cat(kUser, ",", kCall, ",", kUser))).find("messages.2: `tool_use` ids"),
            std::string::npos);
  EXPECT_NE(refusal(say(kResult)).find("unexpected `tool_use_id`"), std::string::npos);
  EXPECT_NE(refusal(say(cat(kUser, ",", kCall, ",", kResult, ",", kCall, ",", kResult)))
                .find("ids must be unique"),
            std::string::npos);
  EXPECT_NE(refusal(say(cat(kUser, ",", kCall,
                            R"(,{"role":"user","content":[{"type":"text","text":"t"},)"
                            R"({"type":"tool_result","tool_use_id":"t1","content":"r"}]})")))
                .find("must come first"),
            std::string::npos);
}

TEST_F(AnthropicTest, RefusesCallsWithoutTools) {
  const std::string messages = cat(kUser, ",", kCall, ",", kResult);
  EXPECT_EQ(refusal(say(messages)),
            "tools: requests which include `tool_use` blocks must define tools");
  EXPECT_EQ(say(messages, kTools).status, 200);
}

TEST_F(AnthropicTest, RefusesWrongRolesAndOrder) {
  const std::string answer = R"({"role":"assistant","content":"a"})";
  EXPECT_NE(refusal(say(answer)).find("user first"), std::string::npos);
  EXPECT_NE(refusal(say(cat(kUser, ",", kUser))).find("alternate"), std::string::npos);
  EXPECT_NE(refusal(say(R"({"role":"system","content":"s"})")).find("not one of"),
            std::string::npos);
  EXPECT_NE(refusal(say("")).find("at least one"), std::string::npos);
  EXPECT_NE(refusal(say(cat(kUser, R"(,{"role":"assistant","content":"a "})")))
                .find("trailing whitespace"),
            std::string::npos);
  EXPECT_NE(refusal(say(cat(kUser, R"(,{"role":"assistant","content":[{"type":"tool_result",)"
                                   R"("tool_use_id":"t1"}]})")))
                .find("cannot stand in an assistant message"),
            std::string::npos);
}

TEST_F(AnthropicTest, RefusesEmptyContentAndBadFields) {
  EXPECT_EQ(refusal(say(R"({"role":"user","content":""})")),
            "messages.0.content: must not be empty");
  EXPECT_EQ(refusal(say(R"({"role":"user","content":[]})")),
            "messages.0.content: must not be empty");
  EXPECT_EQ(refusal(say(R"({"role":"user","content":[{"type":"text","text":"\n"}]})")),
            "messages.0.content.0.text: must not be empty");
  EXPECT_EQ(refusal(say(kUser, R"("system":"")")), "system: must not be empty");
  EXPECT_EQ(refusal(say(kUser, R"("temperature":1.5)")), "temperature: should be from 0 to 1");
  EXPECT_EQ(refusal(say(kUser, R"("frequency_penalty":1)")), "frequency_penalty: unknown field");
  EXPECT_EQ(refusal(send(cat(R"({"model":"m","messages":[)", kUser, "]}"))),
            "max_tokens: field required");
  EXPECT_EQ(refusal(send(cat(R"({"max_tokens":1,"messages":[)", kUser, "]}"))),
            "model: field required");
  EXPECT_EQ(refusal(say(cat(kUser, R"(,{"role":"assistant","content":[{"type":"tool_use","id":)"
                                   R"("t1","name":"look","input":"{}"}]})"))),
            "messages.1.content.0.input: should be an object, is a string");
  EXPECT_EQ(refusal(ask(server_->port(), post("/v1/messages", "{}"))),
            "anthropic-version: header is required");
}

TEST_F(AnthropicTest, TakesOptionsAndRefusesWrongOnes) {
  EXPECT_EQ(say(kUser, R"("thinking":{"type":"adaptive","display":"omitted"},"output_config":)"
                       R"({"effort":"max","format":{"type":"json_schema","schema":{}}},)"
                       R"("service_tier":"auto","stop_sequences":["x"])")
                .status,
            200);
  EXPECT_NE(refusal(say(kUser, R"("output_config":{"effort":"none"})")).find("'none' is not one"),
            std::string::npos);
  EXPECT_EQ(refusal(say(kUser, R"("output_config":{"format":{"type":"json_schema"}})")),
            "output_config.format.schema: field required");
  EXPECT_EQ(refusal(say(kUser, R"("tool_choice":{"type":"any"})")),
            "tool_choice: may only be specified while providing tools");
  std::string marked;
  for (int i = 0; i < 5; ++i) {
    marked += cat(i == 0 ? "" : ",",
                  R"({"type":"text","text":"x","cache_control":{"type":"ephemeral"}})");
  }
  EXPECT_EQ(refusal(say(cat(R"({"role":"user","content":[)", marked, "]}"))),
            "a maximum of 4 blocks with cache_control may be provided");
}

TEST_F(AnthropicTest, WithThinkingEnabledCallsMustFollowThinking) {
  const std::string wish =
      R"("max_tokens":4000,"thinking":{"type":"enabled","budget_tokens":2000})";
  const auto with = [&](std::string_view messages) {
    return send(cat(R"({"model":"m","messages":[)", messages, "],", wish, "}"));
  };
  EXPECT_NE(with(kUser).body.find("\"thinking\""), std::string::npos);
  EXPECT_NE(refusal(with(cat(kUser, ",", kCall, ",", kResult))).find("start with a thinking block"),
            std::string::npos);
  EXPECT_NE(refusal(say(kUser, R"("thinking":{"type":"enabled","budget_tokens":2000})"))
                .find("budget_tokens"),
            std::string::npos);
}

}  // namespace
}  // namespace anthropic
}  // namespace reprise::fake
