#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "provider/codec.h"
#include "provider/request_body.h"
#include "provider/testing/fixture.h"

namespace reprise::provider {
namespace anthropic {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<Codec> anthropic() {
  return make_anthropic();
}

std::string one_event(std::string_view type, std::string_view members) {
  return cat("event: ", type, "\ndata: {\"type\":\"", type, "\"", members.empty() ? "" : ",",
             members, "}\n\n");
}
std::string block(int index, std::string_view start) {
  return one_event("content_block_start", cat(R"("index":)", index, R"(,"content_block":)", start));
}
std::string delta(int index, std::string_view inner) {
  return one_event("content_block_delta", cat(R"("index":)", index, R"(,"delta":)", inner));
}
std::string stop(int index) {
  return one_event("content_block_stop", cat(R"("index":)", index));
}
const std::string kStart = one_event(
    "message_start",
    R"("message":{"id":"msg_01XFDUDYJgAACzvnptvVoYEL","type":"message","role":"assistant",)"
    R"("content":[],"model":"claude-opus-4-8","stop_reason":null,"usage":{"input_tokens":25,)"
    R"("cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":1}})");
std::string end(std::string_view reason) {
  return one_event(
             "message_delta",
             cat(R"("delta":{"stop_reason":")", reason,
                 R"("},"usage":{"output_tokens":15,"output_tokens_details":{"thinking_tokens":7}})")) +
         one_event("message_stop", "");
}

constexpr std::string_view kStarted = "started msg_01XFDUDYJgAACzvnptvVoYEL: claude-opus-4-8";
constexpr std::string_view kUsageLine =
    R"(usage {"input_tokens":1125,"output_tokens":15,"reasoning_tokens":7,"cached_tokens":1000,)"
    R"("cache_written_tokens":100,"cost":null,"request_id":"msg_01XFDUDYJgAACzvnptvVoYEL"})";

TEST(Anthropic, ReadsAStreamInAllChunkings) {
  const std::string body =
      kStart + block(0, R"({"type":"thinking","thinking":"","signature":""})") +
      one_event("ping", "") + delta(0, R"({"type":"thinking_delta","thinking":"Let me "})") +
      delta(0, R"({"type":"thinking_delta","thinking":"see"})") +
      delta(0, R"({"type":"signature_delta","signature":"EqQB"})") + stop(0) +
      block(1, R"({"type":"redacted_thinking","data":"Emw"})") + stop(1) +
      block(2, R"({"type":"text","text":""})") +
      delta(2, R"({"type":"text_delta","text":"Grüß"})") +
      delta(2, R"({"type":"text_delta","text":" dich"})") + stop(2) +
      block(3, R"({"type":"tool_use","id":"toolu_1","name":"read","input":{}})") +
      delta(3, R"({"type":"input_json_delta","partial_json":""})") +
      delta(3, R"({"type":"input_json_delta","partial_json":"{\"p\": \"a"})") +
      delta(3, R"({"type":"input_json_delta","partial_json":".txt\"}"})") + stop(3) +
      block(4, R"({"type":"tool_use","id":"toolu_2","name":"now","input":{}})") + stop(4) +
      end("tool_use");
  EXPECT_THAT(lines_in_all_chunkings(anthropic, body),
              ElementsAre(kStarted, "thinking: Let me see", "signature: EqQB",
                          R"(raw: {"type":"redacted_thinking","data":"Emw"})", "text: Grüß dich",
                          "tool toolu_1: read", R"(input: {"p": "a.txt"})", "tool toolu_2: now",
                          "input: {}", kUsageLine, "ended 1"));
}

TEST(Anthropic, ReadsAWholeAnswer) {
  const std::string body =
      R"({"id":"msg_01XFDUDYJgAACzvnptvVoYEL","type":"message","model":"claude-opus-4-8",)"
      R"("content":[{"type":"thinking","thinking":"t","signature":"s"},)"
      R"({"type":"text","text":"Hi"},{"type":"tool_use","id":"u","name":"f","input":{"a": 1.0}}],)"
      R"("stop_reason":"tool_use","usage":{"input_tokens":25,"cache_creation_input_tokens":100,)"
      R"("cache_read_input_tokens":1000,"output_tokens":15,)"
      R"("output_tokens_details":{"thinking_tokens":7}}})";
  ProviderFixture bench(anthropic(), {{.body = body}});
  ASSERT_TRUE(bench.ask(false));
  EXPECT_THAT(bench.lines(),
              ElementsAre(kStarted, "thinking: t", "signature: s", "text: Hi", "tool u: f",
                          R"(input: {"a": 1.0})", kUsageLine, "ended 1"));
}

TEST(Anthropic, KeepsCitationsAndWhatUnknownDeltasBring) {
  const std::string body = kStart + block(0, R"({"type":"compaction","content":""})") +
                           delta(0, R"({"type":"compaction_delta","content":"the sum"})") +
                           delta(0, R"({"type":"compaction_delta","content":"mary"})") + stop(0) +
                           block(1, R"({"type":"text","text":"","citations":[]})") +
                           delta(1, R"({"type":"citations_delta","citation":{"url":"u"}})") +
                           delta(1, R"({"type":"text_delta","text":"found"})") + stop(1) +
                           end("end_turn");
  EXPECT_THAT(
      lines_in_all_chunkings(anthropic, body),
      ElementsAre(kStarted, R"(raw: {"type":"compaction","content":"the summary"})", "text: found",
                  R"(members: {"citations":[{"url":"u"}]})", kUsageLine, "ended 0"));
}

TEST(Anthropic, OnlyKnownEndsAreGood) {
  const auto ending = [](std::string_view reason) {
    ProviderFixture bench(
        anthropic(),
        {{.body = kStart + block(0, R"({"type":"text","text":"a"})") + stop(0) + end(reason)}});
    EXPECT_TRUE(bench.ask()) << reason;
    return bench.lines().back();
  };
  EXPECT_EQ(ending("end_turn"), "ended 0");
  EXPECT_EQ(ending("stop_sequence"), "ended 0");
  EXPECT_EQ(ending("refusal"), "ended 3 refusal");
  EXPECT_EQ(ending("error"), "ended 4 error");
}

TEST(Anthropic, KeepsBlocksItDoesNotKnow) {
  const std::string body =
      kStart +
      block(0, R"({"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}})") +
      delta(0, R"({"type":"input_json_delta","partial_json":"{\"q\":"})") +
      delta(0, R"({"type":"input_json_delta","partial_json":"\"x\"}"})") + stop(0) +
      end("max_tokens");
  ProviderFixture bench(anthropic(), {{.body = body}});
  ASSERT_TRUE(bench.ask());
  EXPECT_THAT(
      bench.lines(),
      ElementsAre(
          kStarted,
          R"(raw: {"type":"server_tool_use","id":"srv_1","name":"web_search","input":{"q":"x"}})",
          kUsageLine, "ended 2"));
}

TEST(Anthropic, DistinguishesAPauseFromTheEnd) {
  ProviderFixture bench(anthropic(), {{.body = kStart + end("pause_turn")}});
  ASSERT_TRUE(bench.ask());
  EXPECT_EQ(bench.lines().back(), cat("ended ", static_cast<int>(StopReason::paused)));
}

TEST(Anthropic, OverloadDuringAnAnswerIsNotRetried) {
  const std::string overloaded =
      one_event("error", R"("error":{"type":"overloaded_error","message":"Overloaded"})");
  ProviderFixture middle(
      anthropic(), {{.body = kStart + block(0, R"({"type":"text","text":""})") +
                             delta(0, R"({"type":"text_delta","text":"Hel"})") + overloaded}});
  const auto outcome = middle.ask();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::io);
  EXPECT_EQ(outcome.error().message, "model.test ended the answer early: Overloaded");
  EXPECT_THAT(middle.lines(), ElementsAre(kStarted, "text: Hel"));

  ProviderFixture before(anthropic(),
                         {{.body = kStart + overloaded}, {.body = kStart + end("end_turn")}});
  ASSERT_TRUE(before.ask());
  EXPECT_THAT(before.lines(),
              ElementsAre("retry 2/5 after 500, : model.test ended the answer early: Overloaded",
                          kStarted, kUsageLine, "ended 0"));
}

TEST(Anthropic, DeclaresCalledToolsWhenNoneAreOffered) {
  ListMessages messages({
      make_message(role::kUser, {TextBlock{"look", {}}}),
      make_message(role::kAssistant, {ToolUseBlock{"c1", "patch", RawJson(), {}}}),
      make_message(role::kUser, {ToolResultBlock{"c1", "r", false, {}, {}}}),
  });
  Request request{.model = "m", .messages = messages};
  EXPECT_EQ(*render_body(*anthropic(), request),
            R"({"model":"m","max_tokens":4096,"stream":true,"messages":[)"
            R"({"role":"user","content":[{"type":"text","text":"look"}]},)"
            R"({"role":"assistant","content":[{"type":"tool_use","id":"c1",)"
            R"("name":"patch","input":{}}]},)"
            R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c1",)"
            R"("content":"r"}]}],"tools":[{"name":"patch","description":"not available now",)"
            R"("input_schema":{"type":"object"}}],"tool_choice":{"type":"none"}})");
}

TEST(Anthropic, WritesARequest) {
  ListMessages messages({
      make_message(role::kUser, {TextBlock{"look", {}}, TextBlock{" \n", {}},
                                 ImageBlock{"image/png", {}, "data:image/jpeg;base64,QUJD", {}},
                                 ImageBlock{"image/png", {}, "https://x.test/a.png", {}}}),
      make_message(
          role::kAssistant,
          {ThinkingBlock{"t", "sig", {}}, ThinkingBlock{"unsigned", "", {}},
           UnknownBlock{"redacted_thinking", json_of(R"({"type":"redacted_thinking"})")},
           TextBlock{" one \n", {}}, ToolUseBlock{"u1", "f", json_of(R"({"a": "\ud800"})"), {}},
           ToolUseBlock{"u2", "g", RawJson(), {}}},
          "anthropic"),
      make_message(role::kUser, {TextBlock{"go on", {}}, ToolResultBlock{"u1", "r1", false, {}, {}},
                                 ToolResultBlock{"u2", "bad", true, {}, {}}}),
      make_message(role::kAssistant,
                   {ThinkingBlock{"foreign", "sig", {}},
                    UnknownBlock{"reasoning", json_of(R"({"type":"reasoning"})")}},
                   "openai-responses"),
  });
  Request request{.model = "m",
                  .system = "Be brief.",
                  .temperature = 0.5,
                  .tools = {{"f", "does f", json_of(R"({"type":"object"})")}},
                  .messages = messages};
  EXPECT_EQ(
      *render_body(*anthropic(), request),
      R"({"model":"m","max_tokens":4096,"stream":true,"system":"Be brief.","temperature":0.5,)"
      R"("tools":[{"name":"f","description":"does f","input_schema":{"type":"object"}}],)"
      R"("messages":[{"role":"user","content":[{"type":"text","text":"look"},)"
      R"({"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"QUJD"}},)"
      R"({"type":"image","source":{"type":"url","url":"https://x.test/a.png"}}]},)"
      R"({"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"sig"},)"
      R"({"type":"redacted_thinking"},{"type":"text","text":" one"},)"
      R"({"type":"tool_use","id":"u1","name":"f","input":{"a": "\ufffd"}},)"
      R"({"type":"tool_use","id":"u2","name":"g","input":{}}]},)"
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"u1","content":"r1"},)"
      R"({"type":"tool_result","tool_use_id":"u2","content":"bad","is_error":true},)"
      R"({"type":"text","text":"go on"}]}]})");
}

TEST(Anthropic, RequestsTheModelsMaximum) {
  ListMessages messages;
  Request request{.model = "claude-sonnet-5-5", .messages = messages};
  EXPECT_THAT(*render_body(*anthropic(), request), HasSubstr(R"("max_tokens":128000,)"));
  request.max_tokens = 7;
  EXPECT_THAT(*render_body(*anthropic(), request), HasSubstr(R"("max_tokens":7,)"));
}

TEST(Anthropic, SendsItsHeadersToEitherBaseUrl) {
  for (const char* base : {"https://a.test", "https://a.test/", "https://a.test/v1"}) {
    ProviderFixture bench(anthropic(), {{.body = kStart + end("end_turn")}},
                          {.base_url = base, .api_key = " sk-1\n"});
    ASSERT_TRUE(bench.ask());
    const http::Request& sent = bench.sent().at(0);
    EXPECT_EQ(sent.url, "https://a.test/v1/messages");
    EXPECT_EQ(http::find_header(sent.headers, "X-Api-Key"), "sk-1");
    EXPECT_EQ(http::find_header(sent.headers, "anthropic-version"), "2023-06-01");
  }
}

}  // namespace
}  // namespace anthropic
}  // namespace reprise::provider
