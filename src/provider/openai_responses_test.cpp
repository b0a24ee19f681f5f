#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "provider/codec.h"
#include "provider/request_body.h"
#include "provider/testing/fixture.h"

namespace reprise::provider {
namespace openai_responses {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::unique_ptr<Codec> responses() {
  return make_openai_responses();
}

std::string one_event(std::string_view type, std::string_view members) {
  return cat("event: ", type, "\ndata: {\"type\":\"", type, "\",", members, "}\n\n");
}

const std::string kCreated = one_event(
    "response.created",
    R"("response":{"id":"resp_67","model":"gpt-5-mini","status":"in_progress","output":[]},)"
    R"("sequence_number":0)");

std::string completed(std::string_view output) {
  return one_event(
      "response.completed",
      cat(R"("response":{"id":"resp_67","model":"gpt-5-mini","status":"completed","error":null,)",
          R"("output":[)", output, R"(],"usage":{"input_tokens":36,"input_tokens_details":)",
          R"({"cached_tokens":12},"output_tokens":87,"output_tokens_details":)",
          R"({"reasoning_tokens":64},"total_tokens":123}})"));
}

constexpr std::string_view kStarted = "started resp_67: gpt-5-mini";
constexpr std::string_view kUsageLine =
    R"(usage {"input_tokens":36,"output_tokens":87,"reasoning_tokens":64,"cached_tokens":12,)"
    R"("cost":null,"request_id":"resp_67"})";

TEST(OpenaiResponses, ReadsAStreamInAllChunkings) {
  const std::string reasoning =
      R"({"id":"rs_1","type":"reasoning","encrypted_content":"gAAA","summary":[)"
      R"({"type":"summary_text","text":"Think."}]})";
  const std::string body =
      kCreated +
      one_event("response.output_item.added",
                R"("output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]})") +
      one_event("response.reasoning_summary_text.delta",
                R"("output_index":0,"summary_index":0,"delta":"Thi")") +
      one_event("response.reasoning_summary_text.delta",
                R"("output_index":0,"summary_index":0,"delta":"nk.")") +
      one_event("response.output_item.done", cat(R"("output_index":0,"item":)", reasoning)) +
      one_event("response.output_text.delta",
                R"("item_id":"msg_1","output_index":1,"content_index":0,"delta":"Hé \ud83d")") +
      one_event("response.output_text.delta", R"("output_index":1,"delta":"\ude00")") +
      one_event("response.output_item.done",
                R"("output_index":1,"item":{"id":"msg_1","type":"message","content":[)"
                R"({"type":"output_text","text":"Hé 😀"}]})") +
      completed(cat(reasoning, R"(,{"id":"msg_1","type":"message","content":[)",
                    R"({"type":"output_text","text":"Hé 😀"}]})"));
  EXPECT_THAT(lines_in_all_chunkings(responses, body),
              ElementsAre(kStarted, "thinking: Think.", cat("raw: ", reasoning), "text: Hé 😀",
                          kUsageLine, "ended 0"));
}

TEST(OpenaiResponses, ReadsParallelCalls) {
  const auto call = [](int index, std::string_view arguments) {
    return cat(R"("output_index":)", index, R"(,"item":{"id":"fc_)", index,
               R"(","type":"function_call","call_id":"call_)", index,
               R"(","name":"read","arguments":")", arguments, R"("})");
  };
  const std::string body =
      kCreated + one_event("response.output_item.added", call(0, "")) +
      one_event("response.output_item.added", call(1, "")) +
      one_event("response.function_call_arguments.delta", R"("output_index":1,"delta":"{\"b\"")") +
      one_event("response.function_call_arguments.delta", R"("output_index":0,"delta":"{\"a\"")") +
      one_event("response.function_call_arguments.delta", R"("output_index":1,"delta":":2}")") +
      one_event("response.output_item.done", call(1, R"({\"b\":2})")) +
      one_event("response.function_call_arguments.delta", R"("output_index":0,"delta":":1}")") +
      one_event("response.output_item.done", call(0, R"({\"a\":1})")) + completed("");
  EXPECT_THAT(lines_in_all_chunkings(responses, body),
              ElementsAre(kStarted, "tool call_0: read", R"(input: {"a":1})", "tool call_1: read",
                          R"(input: {"b":2})", kUsageLine, "ended 1"));
}

TEST(OpenaiResponses, ItemsWithoutAnIndexAreNoOtherAnswer) {
  const std::string body =
      kCreated + one_event("response.output_item.added", R"("item":{"type":"reasoning"})") +
      one_event("response.output_item.added",
                R"("item":{"type":"function_call","call_id":"c","name":"f"})") +
      completed(R"({"type":"function_call","call_id":"c","name":"f","arguments":"{}"})");
  ProviderFixture bench(responses(), {{.body = body}});
  ASSERT_TRUE(bench.ask());
  EXPECT_THAT(bench.lines(), testing::Contains("tool c: f"));
}

TEST(OpenaiResponses, TakesMissingPartsFromTheFinalResponse) {
  const std::string output =
      R"({"type":"reasoning","summary":[{"type":"summary_text","text":"A"},)"
      R"({"type":"summary_text","text":"B"}]},)"
      R"({"type":"message","content":[{"type":"output_text","text":"Hi"}]},)"
      R"({"type":"function_call","call_id":"c","name":"f","arguments":"{\"a\":1}"},)"
      R"({"type":"web_search_call","id":"ws_1"})";
  const auto expected =
      ElementsAre(kStarted, "thinking: A\n\nB", "text: Hi", "tool c: f", R"(input: {"a":1})",
                  R"(raw: {"type":"web_search_call","id":"ws_1"})", kUsageLine, "ended 1");
  ProviderFixture stream(responses(), {{.body = kCreated + completed(output)}});
  ASSERT_TRUE(stream.ask());
  EXPECT_THAT(stream.lines(), expected);

  ProviderFixture whole(
      responses(),
      {{.body = cat(R"({"id":"resp_67","model":"gpt-5-mini","status":"completed","output":[)",
                    output, R"(],"usage":{"input_tokens":36,"input_tokens_details":)",
                    R"({"cached_tokens":12},"output_tokens":87,"output_tokens_details":)",
                    R"({"reasoning_tokens":64}}})")}});
  ASSERT_TRUE(whole.ask(false));
  EXPECT_THAT(whole.lines(), expected);
}

TEST(OpenaiResponses, ReportsWhyItEndedEarly) {
  const auto incomplete = [](std::string_view reason) {
    return kCreated + one_event("response.output_text.delta", R"("output_index":0,"delta":"a")") +
           one_event("response.incomplete",
                     cat(R"("response":{"id":"resp_67","status":"incomplete","output":[],)",
                         R"("incomplete_details":{"reason":")", reason, R"("}})"));
  };
  ProviderFixture tokens(responses(), {{.body = incomplete("max_output_tokens")}});
  ASSERT_TRUE(tokens.ask());
  EXPECT_THAT(tokens.lines(), ElementsAre(kStarted, "text: a", "ended 2"));
  ProviderFixture filter(responses(), {{.body = incomplete("content_filter")}});
  ASSERT_TRUE(filter.ask());
  EXPECT_THAT(filter.lines(), ElementsAre(kStarted, "text: a", "ended 3 content_filter"));
}

TEST(OpenaiResponses, FailuresInTheStream) {
  struct Case {
    std::string body;
    Code code;
  };
  const Case cases[] = {
      {one_event("error", R"("code":"rate_limit_exceeded","message":"slow down")"),
       Code::rate_limited},
      {one_event("error", R"("error":{"type":"server_error","message":"oops"})"), Code::io},
      {one_event("response.failed",
                 R"("response":{"status":"failed","error":{"code":"server_error","message":"x"}})"),
       Code::io},
      {one_event("error", R"("error":{"code":"previous_response_not_found","message":"x"})"),
       Code::expired},
      {one_event("error", R"("code":"invalid_prompt","message":"x")"), Code::invalid_argument},
      {"event: response.created\ndata: {broken\n\n", Code::io},
  };
  for (const Case& one : cases) {
    ProviderFixture bench(responses(), {{.body = one.body}}, {.retries_max = 0});
    const auto outcome = bench.ask();
    ASSERT_FALSE(outcome) << one.body;
    EXPECT_EQ(outcome.error().code, one.code) << one.body;
  }
}

TEST(OpenaiResponses, DetectsAnExpiredResponse) {
  const char* const bodies[] = {
      R"({"error":{"message":"gone","type":"invalid_request_error","code":"previous_response_not_found"}})",
      R"({"error":{"message":"gone","type":"previous_response_not_found"}})",
      R"({"code":"previous_response_not_found","message":"gone"})",
      R"({"error":{"message":"Previous response with id 'resp_1' not found.","code":null}})",
  };
  const auto ask = [](int status, const std::string& body, std::string previous) {
    ProviderFixture bench(responses(), {{.status = status, .body = body}}, {.retries_max = 0});
    ListMessages messages({make_message(role::kUser, "Hi")});
    Request request{
        .model = "m", .previous_response_id = std::move(previous), .messages = messages};
    return bench.ask(request).error().code;
  };
  for (const char* body : bodies) {
    EXPECT_EQ(ask(400, body, "resp_1"), Code::expired) << body;
    EXPECT_EQ(ask(404, body, "resp_1"), Code::expired) << body;
    EXPECT_EQ(ask(400, body, ""), Code::invalid_argument) << body;
    EXPECT_EQ(ask(401, body, "resp_1"), Code::unauthorized) << body;
    EXPECT_EQ(ask(429, body, "resp_1"), Code::rate_limited) << body;
    EXPECT_EQ(ask(500, body, "resp_1"), Code::io) << body;
    EXPECT_EQ(ask(408, body, "resp_1"), Code::timeout) << body;
  }
  EXPECT_EQ(ask(404, R"({"error":{"message":"The model was not found"}})", "resp_1"),
            Code::invalid_argument);
}

TEST(OpenaiResponses, WritesARequest) {
  ListMessages messages({
      make_message(role::kUser, {TextBlock{"look", {}},
                                 ImageBlock{"image/png", {}, "https://x.test/a.png", {}}}),
      make_message(
          role::kAssistant,
          {ThinkingBlock{"summary", "", {}},
           UnknownBlock{"reasoning",
                        json_of(R"({"type":"reasoning","id":"rs_1","encrypted_content":"gA"})")},
           UnknownBlock{"reasoning", json_of(R"({"type":"reasoning","id":"rs_2"})")},
           TextBlock{"let me see", {}}, ToolUseBlock{"c1", "f", json_of(R"({"a":1.0})"), {}}},
          "openai-responses"),
      make_message(role::kUser, {TextBlock{"and", {}}, ToolResultBlock{"c1", "r1", false, {}, {}}}),
      make_message(role::kAssistant,
                   {UnknownBlock{"redacted_thinking", json_of(R"({"type":"redacted_thinking"})")},
                    TextBlock{"ok", {}}},
                   "anthropic"),
  });
  Request request{.model = "gpt-4.1",
                  .system = "Be brief.",
                  .temperature = 1,
                  .max_tokens = 50,
                  .tools = {{"f", "does f", json_of(R"({"type":"object"})")}},
                  .previous_response_id = "resp_66",
                  .messages = messages};
  EXPECT_EQ(*render_body(*responses(), request),
            R"({"model":"gpt-4.1","stream":true,"store":true,"previous_response_id":"resp_66",)"
            R"("instructions":"Be brief.","temperature":1,"max_output_tokens":50,)"
            R"("tools":[{"type":"function","name":"f","description":"does f",)"
            R"("parameters":{"type":"object"},"strict":false}],"input":[)"
            R"({"type":"message","role":"user","content":[{"type":"input_text","text":"look"},)"
            R"({"type":"input_image","image_url":"https://x.test/a.png","detail":"auto"}]},)"
            R"({"type":"reasoning","id":"rs_1","encrypted_content":"gA"},)"
            R"({"type":"message","id":"msg_2_0","status":"completed","role":"assistant",)"
            R"("content":[{"type":"output_text","text":"let me see","annotations":[]}]},)"
            R"({"type":"function_call","call_id":"c1","name":"f","arguments":"{\"a\":1.0}"},)"
            R"({"type":"function_call_output","call_id":"c1","output":"r1"},)"
            R"({"type":"message","role":"user","content":[{"type":"input_text","text":"and"}]},)"
            R"({"type":"message","id":"msg_4_0","status":"completed","role":"assistant",)"
            R"("content":[{"type":"output_text","text":"ok","annotations":[]}]}]})");
}

std::string body_for(const Codec& codec, bool keep = false) {
  ListMessages messages({make_message(role::kUser, "Hi")});
  Request request{.model = "m", .store_response = keep, .messages = messages};
  return *render_body(codec, request);
}

TEST(OpenaiResponses, OnlyOpenaiIsAskedToStoreAnswers) {
  for (const char* url : {"", "https://api.openai.com/v1", "https://eu.api.openai.com/v1"}) {
    const auto codec = make_openai_responses(url);
    EXPECT_TRUE(codec->continues_responses()) << url;
    EXPECT_THAT(body_for(*codec), HasSubstr(R"("store":true)"));
    EXPECT_THAT(body_for(*codec), Not(HasSubstr("include")));
  }
  const auto other = make_openai_responses("http://127.0.0.1:8080/v1");
  EXPECT_FALSE(other->continues_responses());
  EXPECT_TRUE(other->stores_responses());
  EXPECT_THAT(body_for(*other), HasSubstr(R"("store":false)"));
  EXPECT_THAT(body_for(*other), HasSubstr(R"("include":["reasoning.encrypted_content"])"));
  EXPECT_THAT(body_for(*other, true), HasSubstr(R"("store":true)"));  // stored nowhere else
}

TEST(OpenaiResponses, TheSettingDecidesForAllServers) {
  const auto always = make_openai_responses("http://127.0.0.1:8080/v1", true);
  EXPECT_TRUE(always->continues_responses());
  EXPECT_THAT(body_for(*always), HasSubstr(R"("store":true)"));
  const auto never = make_openai_responses("", false);
  EXPECT_FALSE(never->stores_responses());
  EXPECT_FALSE(never->continues_responses());
  EXPECT_THAT(body_for(*never, true), HasSubstr(R"("store":false)"));
}

TEST(OpenaiResponses, SendsEncryptedReasoningAfterOtherRefusals) {
  const std::string limit = R"({"error":{"message":"Limits include all models"}})";
  const std::string request =
      R"({"error":{"message":"'input' must include text","param":"input"}})";
  const std::string done = R"({"id":"r","status":"completed","output":[]})";
  ProviderFixture bench(make_openai_responses("http://model.test/v1"),
                        {{.status = 429, .body = limit, .headers = {{"Retry-After", "2"}}},
                         {.status = 401, .body = limit},
                         {.status = 400, .body = request},
                         {.status = 400, .body = R"({"error":{"param":"include[0]"}})"},
                         {.body = done}});
  EXPECT_EQ(bench.ask().error().code, Code::unauthorized);
  EXPECT_THAT(bench.pauses, testing::ElementsAre(2000));
  EXPECT_EQ(bench.ask().error().code, Code::invalid_argument);
  EXPECT_TRUE(bench.ask(false));
  ASSERT_EQ(bench.sent().size(), 5U);
  EXPECT_THAT(bench.sent()[3].body, HasSubstr("include"));
  EXPECT_THAT(bench.sent()[4].body, Not(HasSubstr("include")));

  ProviderFixture stored(
      make_openai_responses("http://model.test/v1", true),
      {{.status = 400, .body = R"({"error":{"message":"unknown field: include"}})"}});
  EXPECT_FALSE(stored.ask());
  EXPECT_EQ(stored.sent().size(), 1U) << "it was not sent";
}

TEST(OpenaiResponses, OnlyACompletedResponseIsGood) {
  const auto end = [](std::string_view rest) {
    ProviderFixture bench(responses(),
                          {{.body = cat(R"({"id":"r","output":[{"type":"message","content":[)"
                                        R"({"type":"output_text","text":"a"}]}])",
                                        rest, "}")}});
    EXPECT_TRUE(bench.ask(false)) << rest;
    return bench.lines().back();
  };
  EXPECT_EQ(end(R"(,"status":"completed")"), "ended 0");
  EXPECT_EQ(end(""), "ended 0") << "some servers send no status";
  EXPECT_EQ(end(R"(,"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"})"),
            "ended 2");
  EXPECT_EQ(end(R"(,"status":"incomplete","incomplete_details":{"reason":"content_filter"})"),
            "ended 3 content_filter");
  EXPECT_EQ(end(R"(,"status":"incomplete","incomplete_details":null)"), "ended 4 incomplete");
  EXPECT_EQ(end(R"(,"status":"queued")"), "ended 4 queued");
}

TEST(OpenaiResponses, KeepsSourcesAndUnknownMembersOfCalls) {
  ProviderFixture bench(
      responses(),
      {{.body = R"({"id":"r","status":"completed","output":[{"type":"message","content":[)"
                R"({"type":"output_text","text":"a","annotations":[{"url":"u"}]}]},)"
                R"({"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"{}",)"
                R"("namespace":"n"}]})"}});
  ASSERT_TRUE(bench.ask(false));
  EXPECT_THAT(bench.lines(), testing::Contains(R"(members of the call: {"namespace":"n"})"));
  EXPECT_THAT(bench.lines(), testing::Contains(R"(members: {"annotations":[{"url":"u"}]})"));
}

TEST(OpenaiResponses, MarksAnIncompleteAnswer) {
  Message cut = make_message(role::kAssistant, "half");
  cut.state = MessageState::incomplete;
  ListMessages messages({make_message(role::kUser, "Hi"), cut, make_message(role::kUser, "Go on")});
  Request request{.model = "m", .messages = messages};
  EXPECT_THAT(*render_body(*responses(), request),
              HasSubstr(R"({"type":"message","id":"msg_2_0","status":"incomplete",)"));
}

}  // namespace
}  // namespace openai_responses
}  // namespace reprise::provider
