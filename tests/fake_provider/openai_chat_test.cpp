#include <gtest/gtest.h>

#include <memory>

#include "base/text.h"
#include "fake_provider/answer.h"
#include "fake_provider/fake_provider.h"
#include "fake_provider/json_value.h"
#include "fake_provider/raw_client.h"

namespace reprise::fake {
namespace openai_chat {
namespace {

constexpr std::string_view kTools =
    R"("tools":[{"type":"function","function":{"name":"look","description":"d",)"
    R"("parameters":{"type":"object"}}}])";

class OpenaiChatTest : public testing::Test {
 protected:
  RawReply send(std::string_view body) {
    return ask(server_->port(), post("/v1/chat/completions", body));
  }
  // Sends a request with these messages.
  RawReply say(std::string_view messages, std::string_view more = "") {
    return send(
        cat(R"({"model":"m","messages":[)", messages, "]", more.empty() ? "" : ",", more, "}"));
  }
  // Checks that the reply is a refusal; returns its message.
  std::string refusal(const RawReply& reply) {
    EXPECT_EQ(reply.status, 400) << reply.body;
    EXPECT_EQ(server_->violations().size(), ++refusals_);
    const auto body = parse_value(reply.body);
    return body ? body->find("error").find("message").text : cat("no JSON: ", reply.body);
  }
  static std::string content(const RawReply& reply) {
    const auto body = parse_value(reply.body);
    if (!body || body->find("choices").items.empty()) {
      return cat("no answer: ", reply.bytes);
    }
    return body->find("choices").items[0].find("message").find("content").text;
  }

  std::unique_ptr<FakeProvider> server_ = *FakeProvider::start({.port = 0, .key = "", .seed = 1});
  std::size_t refusals_ = 0;
};

TEST_F(OpenaiChatTest, AnswersWithTheQuestionAndTheNumberOfMessages) {
  const auto reply = say(R"({"role":"system","content":"s"},{"role":"user","content":"hello"})");
  ASSERT_EQ(reply.status, 200) << reply.bytes;
  EXPECT_NE(reply.head.find("x-request-id: req_"), std::string::npos);
  EXPECT_EQ(content(reply), "answer 2 to: hello ✓ żółć 漢字 🙂");
  const auto body = parse_value(reply.body);
  EXPECT_GT(body->find("usage").find("prompt_tokens").number(), 0);
  EXPECT_EQ(body->find("choices").items[0].find("finish_reason").text, "stop");
  EXPECT_TRUE(server_->violations().empty());
}

// The pieces of the stream are equal to the plain answer.
TEST_F(OpenaiChatTest, StreamsTextThinkingAndUsage) {
  const auto reply = say(R"({"role":"user","content":"think of it"})",
                         R"("stream":true,"stream_options":{"include_usage":true})");
  ASSERT_TRUE(reply.complete) << reply.bytes;
  const auto events = reply.events();
  ASSERT_GT(events.size(), 6U);
  EXPECT_EQ(events.back(), "[DONE]");
  std::string text;
  std::string thinking;
  std::string finish;
  for (std::size_t i = 0; i + 2 < events.size(); ++i) {
    const auto chunk = parse_value(events[i]);
    ASSERT_TRUE(chunk) << events[i];
    const Value& choice = chunk->find("choices").items.at(0);
    text += choice.find("delta").find("content").text;
    thinking += choice.find("delta").find("reasoning_content").text;
    finish = choice.find("finish_reason").text;
  }
  EXPECT_EQ(text, "answer 1 to: think of it ✓ żółć 漢字 🙂");
  EXPECT_EQ(thinking, "thinking about 1: think of it ✓ żółć 漢字 🙂");
  EXPECT_EQ(finish, "stop");
  const auto usage = parse_value(events[events.size() - 2]);
  EXPECT_TRUE(usage->find("choices").items.empty());
  EXPECT_GT(usage->find("usage").find("completion_tokens").number(), 0);
}

TEST_F(OpenaiChatTest, LeavesTheUsageOutWhenItWasNotAskedFor) {
  const auto reply = say(R"({"role":"user","content":"x"})", R"("stream":true)");
  EXPECT_EQ(reply.body.find("usage"), std::string::npos);
}

TEST_F(OpenaiChatTest, CallsToolsInParallelAndQuotesTheirResults) {
  const std::string question =
      R"({"role":"user","content":"call:look {\"a\":[1,{\"b\":\"ä\"}]} call:none {} call:look"})";
  const auto reply = say(question, kTools);
  const auto body = parse_value(reply.body);
  ASSERT_TRUE(body) << reply.bytes;
  const Value& choice = body->find("choices").items.at(0);
  EXPECT_EQ(choice.find("finish_reason").text, "tool_calls");
  const auto& calls = choice.find("message").find("tool_calls").items;
  ASSERT_EQ(calls.size(), 2U);  // "none" is not available
  EXPECT_EQ(calls[0].find("function").find("arguments").text, R"({"a":[1,{"b":"ä"}]})");
  EXPECT_EQ(calls[1].find("function").find("arguments").text, "{}");
  EXPECT_NE(calls[0].find("id").text, calls[1].find("id").text);

  const std::string request =
      R"({"role":"assistant","content":null,"tool_calls":[)"
      R"({"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}},)"
      R"({"id":"c2","type":"function","function":{"name":"look","arguments":"{}"}}]})";
  const std::string results = R"({"role":"tool","tool_call_id":"c2","content":"two"},)"
                              R"({"role":"tool","tool_call_id":"c1","content":""})";
  const auto last = say(cat(question, ",", request, ",", results), kTools);
  EXPECT_TRUE(content(last).starts_with(cat("answer 4 after 2 results (", fingerprint("two"), "; ",
                                            fingerprint(""), ") to: call:look")))
      << last.bytes;
  EXPECT_TRUE(server_->violations().empty());
}

TEST_F(OpenaiChatTest, RefusesUnpairedCallsAndResults) {
  const std::string user = R"({"role":"user","content":"x"})";
  const std::string call =
      R"({"role":"assistant","tool_calls":[)"
      R"({"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}}]})";
  const std::string result = R"({"role":"tool","tool_call_id":"c1","content":"r"})";
  EXPECT_EQ(refusal(say(cat(user, ",", call))),
            "an assistant message with tool_calls must be followed by tool messages responding to "
            "each tool_call_id; 'c1' has none before the end");
  EXPECT_NE(refusal(say(cat(user, ",", call, ",", user))).find("before messages[2]"),
            std::string::npos);
  EXPECT_NE(refusal(say(cat(user, ",", result))).find("answers no open tool call"),
            std::string::npos);
  EXPECT_NE(refusal(say(cat(user, ",", call, ",", result, ",", result))).find("answers no open"),
            std::string::npos);
  const std::string again = cat(user, ",", call, ",", result, ",", call, ",", result);
  EXPECT_EQ(refusal(say(again)), "messages[3].tool_calls[0].id: 'c1' is empty or was used before");
}

TEST_F(OpenaiChatTest, RefusesWrongRolesAndOrder) {
  const std::string user = R"({"role":"user","content":"x"})";
  const std::string system = R"({"role":"system","content":"s"})";
  EXPECT_EQ(refusal(say(cat(system, ",", system, ",", user))),
            "messages[1]: two system messages in a row; roles must alternate");
  EXPECT_EQ(refusal(say(cat(user, ",", system))),
            "messages[1]: a system message must be the first");
  EXPECT_EQ(refusal(say(cat(user, ",", user))),
            "messages[1]: two user messages in a row; roles must alternate");
  EXPECT_EQ(refusal(say(R"({"role":"person","content":"x"})")),
            "messages[0].role: 'person' is not one of system, user, assistant, tool");
  EXPECT_EQ(refusal(say("")), "messages: must not be empty");
  EXPECT_EQ(refusal(say(system)), "messages: nothing but a system message");
}

TEST_F(OpenaiChatTest, RefusesEmptyContentAndBadFields) {
  EXPECT_EQ(refusal(say(R"({"role":"user","content":" \n"})")),
            "messages[0].content: must not be empty");
  EXPECT_EQ(refusal(say(R"({"role":"user","content":[]})")),
            "messages[0].content: must not be empty");
  EXPECT_EQ(refusal(say(R"({"role":"user","content":[{"type":"text","text":""}]})")),
            "messages[0].content[0].text: must not be empty");
  EXPECT_EQ(refusal(say(R"({"role":"user"})")), "messages[0].content: field required");
  EXPECT_EQ(refusal(say(R"({"role":"user","content":"x"},{"role":"assistant","content":null})")),
            "messages[1].content: required without tool_calls");
  EXPECT_EQ(refusal(say(R"({"role":"user","content":"x","seq":1})")),
            "messages[0].seq: unknown field");
  EXPECT_EQ(refusal(say(R"({"role":"user","content":"x"})", R"("temperature":"1")")),
            "temperature: should be a number, is a string");
  EXPECT_EQ(refusal(say(R"({"role":"user","content":"x"})", R"("temperature":2.5)")),
            "temperature: should be from 0 to 2");
  EXPECT_EQ(refusal(say(R"({"role":"user","content":"x"})", R"("tools":[])")),
            "tools: must not be empty");
  EXPECT_EQ(refusal(say(R"({"role":"user","content":"x"})", R"("stream_options":{})")),
            "stream_options: only allowed when stream is true");
  EXPECT_EQ(refusal(send(R"({"messages":[{"role":"user","content":"x"}]})")),
            "model: field required");
}

TEST_F(OpenaiChatTest, TakesOptionsAndRefusesWrongOnes) {
  const std::string user = R"({"role":"user","content":"x"})";
  EXPECT_EQ(say(user, R"("reasoning_effort":"high","seed":1,"service_tier":"flex",)"
                      R"("prompt_cache_key":"k","response_format":{"type":"json_schema",)"
                      R"("json_schema":{"name":"answer","schema":{},"strict":true}})")
                .status,
            200);
  EXPECT_EQ(refusal(say(user, R"("response_format":{"type":"json_schema","json_schema":{}})")),
            "response_format.json_schema.name: field required");
  EXPECT_EQ(refusal(say(user, R"("tool_choice":"auto")")),
            "tool_choice: only allowed when tools are specified");
}

TEST_F(OpenaiChatTest, RefusesWhatIsNoJsonOrNoUtf8) {
  EXPECT_NE(refusal(send("{")).find("not valid JSON"), std::string::npos);
  EXPECT_NE(refusal(say(R"({"role":"user","content":"\ud800"})")).find("lone surrogate"),
            std::string::npos);
  EXPECT_NE(refusal(say("{\"role\":\"user\",\"content\":\"\xff\"}")).find("not UTF-8"),
            std::string::npos);
  EXPECT_NE(refusal(say(R"({"role":"user","role":"user","content":"x"})")).find("twice"),
            std::string::npos);
  EXPECT_NE(refusal(ask(server_->port(),
                        "POST /v1/chat/completions HTTP/1.1\r\ncontent-type: "
                        "text/plain\r\ncontent-length: 2\r\n\r\n{}"))
                .find("content-type"),
            std::string::npos);
}

TEST_F(OpenaiChatTest, RefusesArgumentsThatAreNoObject) {
  EXPECT_EQ(refusal(say(R"({"role":"user","content":"x"},{"role":"assistant","tool_calls":[)"
                        R"({"id":"c1","type":"function","function":)"
                        R"({"name":"look","arguments":"{\"a\":"}}]})")),
            "messages[1].tool_calls[0].function.arguments: the arguments are not a JSON object");
}

}  // namespace
}  // namespace openai_chat
}  // namespace reprise::fake
