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
namespace openai_responses {
namespace {

constexpr std::string_view kTools =
    R"("tools":[{"type":"function","name":"look","parameters":{"type":"object"},"strict":false}])";

class OpenaiResponsesTest : public testing::Test {
 protected:
  RawReply send(std::string_view body) { return ask(server_->port(), post("/v1/responses", body)); }
  RawReply say(std::string_view input, std::string_view more = "") {
    return send(cat(R"({"model":"m","input":)", input, more.empty() ? "" : ",", more, "}"));
  }
  std::string refusal(const RawReply& reply) {
    EXPECT_EQ(reply.status, 400) << reply.body;
    EXPECT_EQ(server_->violations().size(), ++refusals_);
    return error(reply, "message");
  }
  static std::string error(const RawReply& reply, std::string_view field) {
    const auto body = parse_value(reply.body);
    return body ? body->find("error").find(field).text : cat("no JSON: ", reply.body);
  }
  static Value response(const RawReply& reply) {
    auto body = parse_value(reply.body);
    EXPECT_TRUE(body) << reply.bytes;
    return body ? *body : Value{};
  }
  static std::string previous(const Value& response) {
    return cat(R"("previous_response_id":)", json::quoted(response.find("id").text));
  }

  std::unique_ptr<FakeProvider> server_ = *FakeProvider::start({.port = 0, .key = "", .seed = 1});
  std::size_t refusals_ = 0;
};

TEST_F(OpenaiResponsesTest, ContinuesFromARememberedResponse) {
  const Value first = response(say(R"("hello")"));
  EXPECT_EQ(first.find("output").items.at(0).find("content").items.at(0).find("text").text,
            "answer 1 to: hello ✓ żółć 漢字 🙂");
  const auto second =
      say(R"([{"role":"user","content":[{"type":"input_text","text":"more"}]}])", previous(first));
  EXPECT_NE(second.body.find("answer 3 to: more"), std::string::npos) << second.body;
  // A fork: the first response can be continued from again.
  EXPECT_NE(say(R"("other")", previous(first)).body.find("answer 3 to: other"), std::string::npos);
  EXPECT_TRUE(server_->violations().empty());
}

TEST_F(OpenaiResponsesTest, DoesNotKnowResponsesItNeverStored) {
  const auto unknown = say(R"("x")", R"("previous_response_id":"resp_nobody")");
  EXPECT_EQ(unknown.status, 400);
  EXPECT_EQ(error(unknown, "code"), "previous_response_not_found");
  EXPECT_TRUE(server_->violations().empty());  // not a violation: it could have expired
  const Value unstored = response(say(R"("x")", R"("store":false)"));
  EXPECT_EQ(error(say(R"("y")", previous(unstored)), "code"), "previous_response_not_found");
  EXPECT_NE(refusal(say(R"("x")", R"("previous_response_id":"chatcmpl-1")")).find("resp_"),
            std::string::npos);
}

TEST_F(OpenaiResponsesTest, AResponseThatWasCutIsNotRemembered) {
  const auto cut = send(R"({"model":"fake:cut=2","input":"x","stream":true})");
  const auto created = parse_value(cut.events().at(0));
  ASSERT_TRUE(created);
  EXPECT_EQ(error(say(R"("y")", previous(created->find("response"))), "code"),
            "previous_response_not_found");
}

TEST_F(OpenaiResponsesTest, PairsCallsOverTheChain) {
  const Value first = response(say(R"("call:look {\"a\":1} call:look {\"b\":2}")", kTools));
  const auto& calls = first.find("output").items;
  ASSERT_EQ(calls.size(), 2U);
  const auto result = [&](std::size_t index) {
    return cat(R"({"type":"function_call_output","call_id":)",
               json::quoted(calls[index].find("call_id").text), R"(,"output":"seen"})");
  };
  EXPECT_NE(refusal(say(R"("and?")", previous(first))).find("no tool output found"),
            std::string::npos);
  EXPECT_NE(refusal(say(cat("[", result(0), "]"), previous(first))).find("no tool output found"),
            std::string::npos);
  EXPECT_NE(refusal(say(cat("[", result(0), "]"))).find("no tool call found"), std::string::npos);
  const auto both = say(cat("[", result(1), ",", result(0), "]"), previous(first));
  EXPECT_NE(both.body.find(cat("answer 5 after 2 results (", fingerprint("seen"))),
            std::string::npos)
      << both.body;
  EXPECT_NE(refusal(say(cat("[", result(1), "]"), previous(response(both)))).find("no tool call"),
            std::string::npos);
}

TEST_F(OpenaiResponsesTest, StreamsEveryEventWithItsItem) {
  const auto reply =
      say(R"("think preface call:look {\"a\":\"漢\"}")",
          cat(R"("stream":true,"include":["reasoning.encrypted_content"],)", kTools));
  ASSERT_TRUE(reply.complete);
  std::string deltas;
  Value last;
  const auto events = reply.events();
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto event = parse_value(events[i]);
    ASSERT_TRUE(event) << events[i];
    EXPECT_EQ(event->find("sequence_number").number(), static_cast<double>(i));
    deltas += event->find("delta").text;
    last = *event;
  }
  EXPECT_EQ(last.find("type").text, "response.completed");
  EXPECT_EQ(deltas,
            "thinking about 1: think preface call:look {\"a\":\"漢\"} ✓ żółć 漢字 🙂"
            "let me look ✓ żółć 漢字 🙂{\"a\":\"漢\"}");
  const auto& output = last.find("response").find("output").items;
  ASSERT_EQ(output.size(), 3U);
  EXPECT_EQ(output[0].find("type").text, "reasoning");
  EXPECT_FALSE(output[0].find("encrypted_content").text.empty());
  EXPECT_GT(last.find("response").find("usage").find("total_tokens").number(), 0);
}

TEST_F(OpenaiResponsesTest, AcceptsItsReasoningBackAndNoOther) {
  const std::string user = R"({"role":"user","content":"think"})";
  const auto reply =
      say(cat("[", user, "]"), R"("store":false,"include":["reasoning.encrypted_content"])");
  const Value first = response(reply);
  const Value& item = first.find("output").items.at(0);
  const auto history = [&](std::string_view proof, std::string_view next) {
    return cat("[", user, R"(,{"type":"reasoning","id":)", json::quoted(item.find("id").text),
               R"(,"summary":[{"type":"summary_text","text":)",
               json::quoted(item.find("summary").items.at(0).find("text").text), "}]", proof, "}",
               next, "]");
  };
  const std::string proof =
      cat(R"(,"encrypted_content":)", json::quoted(item.find("encrypted_content").text));
  const std::string next =
      R"(,{"role":"assistant","content":[{"type":"output_text","text":"a"}]},)" + user;
  EXPECT_EQ(say(history(proof, next)).status, 200);
  EXPECT_TRUE(server_->violations().empty());
  EXPECT_NE(refusal(say(history(R"(,"encrypted_content":"forged")", next))).find("not be verified"),
            std::string::npos);
  EXPECT_NE(refusal(say(history("", next))).find("not found"), std::string::npos);  // not stored
  EXPECT_NE(refusal(say(history(proof, "," + user))).find("required following item"),
            std::string::npos);
}

TEST_F(OpenaiResponsesTest, RefusesWrongRolesEmptyContentAndBadFields) {
  EXPECT_EQ(refusal(say(R"("")")), "input: must not be empty");
  EXPECT_EQ(refusal(say("[]")), "input: must not be empty");
  EXPECT_EQ(refusal(say(R"([{"role":"user","content":""}])")),
            "input[0].content: must not be empty");
  EXPECT_EQ(refusal(say(R"([{"role":"tool","content":"x"}])")),
            "input[0].role: 'tool' is not one of user, assistant, system");
  EXPECT_EQ(refusal(say(R"([{"role":"user","content":[{"type":"output_text","text":"x"}]}])")),
            "input[0].content[0].type: 'output_text' does not fit the role user");
  EXPECT_NE(refusal(say(R"([{"role":"system","content":"s"},{"role":"user","content":"x"}])",
                        R"("instructions":"s")"))
                .find("a system message must be the first"),
            std::string::npos);
  EXPECT_EQ(refusal(say(R"("x")", R"("max_output_tokens":1)")),
            "max_output_tokens: should be 16 or more");
  EXPECT_EQ(refusal(say(R"("x")", R"("messages":[])")), "messages: unknown field");
  EXPECT_EQ(refusal(say(R"("x")", R"("include":["all"])")), "include: unknown value 'all'");
  EXPECT_EQ(refusal(send(R"({"input":"x"})")), "model: field required");
  EXPECT_NE(refusal(say(R"([{"role":"user","content":"x"},{"type":"function_call","call_id":"c",)"
                        R"("name":"look","arguments":"{\"a\""}])"))
                .find("not a JSON object"),
            std::string::npos);
}

}  // namespace
}  // namespace openai_responses
}  // namespace reprise::fake
