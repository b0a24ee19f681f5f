#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "provider/codec.h"
#include "provider/request_body.h"
#include "provider/testing/fixture.h"

namespace reprise::provider {
namespace openai_chat {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::unique_ptr<Codec> chat() {
  return make_openai_chat("http://model.test/v1");
}

std::string one_event(std::string_view json) {
  return cat("data: ", json, "\n\n");
}
std::string delta(std::string_view inner) {
  return one_event(
      cat(R"({"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","object":"chat.completion.chunk",)",
          R"("model":"gpt-4o-mini","choices":[{"index":0,"delta":)", inner,
          R"(,"finish_reason":null}]})"));
}
std::string finished(std::string_view reason) {
  return one_event(cat(R"({"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","choices":[{"index":0,)",
                       R"("delta":{},"finish_reason":")", reason, R"("}],"usage":null})"));
}
const std::string kUsage = one_event(
    R"({"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","choices":[],"usage":{"prompt_tokens":19,)"
    R"("completion_tokens":10,"prompt_tokens_details":{"cached_tokens":8,"cache_write_tokens":3},)"
    R"("completion_tokens_details":{"reasoning_tokens":4},"cost":0.00014}})");
const std::string kDone = one_event("[DONE]");

constexpr std::string_view kStarted = "started chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT: gpt-4o-mini";
constexpr std::string_view kUsageLine =
    R"(usage {"input_tokens":19,"output_tokens":10,"reasoning_tokens":4,"cached_tokens":8,)"
    R"("cache_written_tokens":3,"cost":0.00014,"price_source":"provider",)"
    R"("request_id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT"})";

TEST(OpenaiChat, ReadsAStreamInAllChunkings) {
  const std::string body =
      ": OPENROUTER PROCESSING\r\n\r\n" + delta(R"({"role":"assistant","content":""})") +
      delta(R"({"reasoning_content":"Hmm, \u00e4"})") + delta(R"({"content":"Gr"})") +
      delta(R"({"content":"üße \ud83d"})") + delta(R"({"content":"\ude00 你好"})") +
      finished("stop") + kUsage + kDone;
  EXPECT_THAT(lines_in_all_chunkings(chat, body),
              ElementsAre(kStarted, "thinking: Hmm, ä", "signature: reasoning_content@model.test",
                          "text: Grüße 😀 你好", kUsageLine, "ended 0"));
}

TEST(OpenaiChat, ReadsInterleavedToolCalls) {
  const std::string body =
      delta(R"({"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_a",)"
            R"("type":"function","function":{"name":"read","arguments":""}}]})") +
      delta(R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"p\":"}}]})") +
      delta(R"({"tool_calls":[{"index":1,"id":"call_b","function":{"name":"list",)"
            R"("arguments":"{\"d\""}}]})") +
      delta(R"({"tool_calls":[{"index":0,"function":{"arguments":"1}"}},)"
            R"({"index":1,"function":{"arguments":":2}"}}]})") +
      finished("tool_calls") + kDone;
  EXPECT_THAT(lines_in_all_chunkings(chat, body),
              ElementsAre(kStarted, "tool call_a: read", R"(input: {"p":1})", "tool call_b: list",
                          R"(input: {"d":2})", "ended 1"));
}

TEST(OpenaiChat, DistinguishesCallsWithoutAnIndex) {
  const std::string body =
      delta(R"({"tool_calls":[{"index":0,"id":"x","function":{"name":"a","arguments":"{}"}}]})") +
      delta(R"({"tool_calls":[{"index":0,"id":"y","function":{"name":"b","arguments":""}}]})") +
      delta(R"({"tool_calls":[{"function":{"name":"c","arguments":{"k":1}}}]})") + finished("stop");
  ProviderFixture bench(chat(), {{.body = body}});
  ASSERT_TRUE(bench.ask());
  EXPECT_THAT(bench.lines(),
              ElementsAre(kStarted, "tool x: a", "input: {}", "tool y: b", "input: {}",
                          "tool call_2: c", R"(input: {"k":1})", "ended 1"));
}

TEST(OpenaiChat, AcceptsOmissionsOfServers) {
  // No final blank line, no [DONE], no usage, CR line ends, a BOM.
  std::string body = "\xEF\xBB\xBF" + delta(R"({"content":"a"})") + finished("length");
  body.resize(body.size() - 2);
  std::ranges::replace(body, '\n', '\r');
  EXPECT_THAT(lines_in_all_chunkings(chat, body), ElementsAre(kStarted, "text: a", "ended 2"));
}

TEST(OpenaiChat, ReadsAWholeAnswerEvenIfAStreamWasAsked) {
  const std::string body =
      "\n "
      "{\"id\":\"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT\",\"model\":\"gpt-4o-mini\",\"choices\":["
      R"({"index":0,"message":{"role":"assistant","content":"a\ud83d\ude00","reasoning":"r",)"
      R"("tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},)"
      R"("finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":2}})";
  const auto expected = ElementsAre(
      kStarted, "thinking: r", "signature: reasoning@model.test", "text: a😀", "tool c1: f",
      R"(input: {"a":1})", StartsWith(R"(usage {"input_tokens":1,"output_tokens":2)"), "ended 1");
  EXPECT_THAT(lines_in_all_chunkings(chat, body), expected);
  ProviderFixture bench(chat(), {{.body = body}});
  ASSERT_TRUE(bench.ask(false));
  EXPECT_THAT(bench.lines(), expected);
  EXPECT_THAT(bench.sent().at(0).body, HasSubstr(R"("stream":false,)"));
}

TEST(OpenaiChat, AnErrorInTheStreamKeepsTheAnswerSoFar) {
  const std::string body = delta(R"({"content":"Hal"})") +
                           one_event(R"({"error":{"message":"Provider\nbroke.","code":502}})") +
                           delta(R"({"content":"x"})");
  ProviderFixture bench(chat(), {{.body = body}});
  const auto outcome = bench.ask();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::io);
  EXPECT_EQ(outcome.error().message, "model.test ended the answer early: Provider broke");
  EXPECT_THAT(bench.lines(), ElementsAre(kStarted, "text: Hal"));
}

TEST(OpenaiChat, AStreamWithoutItsEndIsAnErrorAtEveryCut) {
  const std::string body = delta(R"({"content":"a"})") + delta(R"({"content":"b"})");
  for (std::size_t cut = 0; cut <= body.size(); ++cut) {
    ProviderFixture bench(chat(), {{.body = body.substr(0, cut)}}, {.retries_max = 0});
    const auto outcome = bench.ask();
    ASSERT_FALSE(outcome) << cut;
    EXPECT_EQ(outcome.error().code, Code::io) << cut;
  }
}

TEST(OpenaiChat, WritesARequest) {
  ListMessages messages({
      make_message(role::kUser, {TextBlock{"look \"here\"", {}},
                                 ImageBlock{"image/png", {}, "data:image/png;base64,QUJD", {}}}),
      make_message(role::kAssistant,
                   {ThinkingBlock{"t", "s", {}}, TextBlock{"one", {}}, TextBlock{"two", {}},
                    ToolUseBlock{"c1", "f", json_of(R"({"a": 1.0})"), {}},
                    ToolUseBlock{"c2", "g", json_of(R"("broken {")"), {}},
                    UnknownBlock{"x", json_of(R"({"type":"x"})")}},
                   "openai-chat"),
      make_message(role::kUser, {TextBlock{"go on", {}}, ToolResultBlock{"c1", "r1", false, {}, {}},
                                 ToolResultBlock{"c2", "", true, {}, {}}}),
      make_message(role::kAssistant, {ThinkingBlock{"only", "", {}}}),
  });
  Request request{.model = "m",
                  .system = "Be brief.",
                  .temperature = 0.1,
                  .max_tokens = 50,
                  .tools = {{"f", "does f", json_of(R"({"type":"object"})")}},
                  .messages = messages};
  EXPECT_EQ(
      *render_body(*chat(), request),
      R"({"model":"m","stream":true,"stream_options":{"include_usage":true},"temperature":0.1,)"
      R"("max_tokens":50,"tools":[{"type":"function","function":{"name":"f",)"
      R"("description":"does f","parameters":{"type":"object"}}}],"messages":[)"
      R"({"role":"system","content":"Be brief."},)"
      R"({"role":"user","content":[{"type":"text","text":"look \"here\""},)"
      R"({"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]},)"
      R"({"role":"assistant","content":"one\n\ntwo","tool_calls":[)"
      R"({"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\": 1.0}"}},)"
      R"({"id":"c2","type":"function","function":{"name":"g",)"
      R"("arguments":"{\"input\":\"broken {\"}"}}]},)"
      R"({"role":"tool","tool_call_id":"c1","content":"r1"},)"
      R"x({"role":"tool","tool_call_id":"c2","content":"(no output)"},)x"
      R"({"role":"user","content":"go on"}]})");
}

TEST(OpenaiChat, UsesOpenaisNameForTheLimit) {
  ListMessages messages;
  Request request{.model = "m", .max_tokens = 5, .messages = messages};
  EXPECT_THAT(*render_body(*make_openai_chat("https://api.openai.com/v1"), request),
              HasSubstr(R"("max_completion_tokens":5)"));
}

// Sends `deltas` as an answer from `from`; returns the reasoning in the next request to `to`.
std::string sent_back(const std::string& deltas, const std::string& from, const std::string& to) {
  ProviderFixture bench(make_openai_chat(from), {{.body = deltas + finished("tool_calls") + kDone}},
                        {.base_url = from});
  EXPECT_TRUE(bench.ask());
  std::vector<Block> blocks;
  for (const std::string& line : bench.lines()) {
    const auto rest = [&line](std::string_view kind) { return line.substr(kind.size()); };
    if (line.starts_with("thinking: ")) {
      blocks.emplace_back(ThinkingBlock{rest("thinking: "), "", {}});
    } else if (line.starts_with("signature: ")) {
      std::get<ThinkingBlock>(blocks.back()).signature = rest("signature: ");
    } else if (line.starts_with("raw: ")) {
      blocks.emplace_back(UnknownBlock{"reasoning_details", json_of(rest("raw: "))});
    }
  }
  const auto with = [&](bool calls) {
    std::vector<Block> all = blocks;
    all.emplace_back(TextBlock{"t", {}});
    if (calls) {
      all.emplace_back(ToolUseBlock{"c", "f", json_of("{}"), {}});
    }
    ListMessages messages({make_message(role::kAssistant, std::move(all), "openai-chat")});
    Request request{.model = "m", .messages = messages};
    return *render_body(*make_openai_chat(to), request);
  };
  EXPECT_THAT(with(false), testing::Not(HasSubstr("reasoning")));
  const std::string body = with(true);
  const auto begin = body.find(R"("content":"t",)");
  const auto end = body.find(R"("tool_calls")");
  return body.substr(begin + 14, end - begin - 14);
}

TEST(OpenaiChat, SendsReasoningBackWithTheCallsInTheFieldItCameIn) {
  const std::string here = "http://model.test/v1";
  const std::string call =
      delta(R"({"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]})");
  const std::string content =
      delta(R"({"reasoning_content":"so "})") + delta(R"({"reasoning_content":"be it"})") + call;
  EXPECT_EQ(sent_back(content, here, here), R"("reasoning_content":"so be it",)");
  const std::string plain = delta(R"({"reasoning":"hm"})") + call;
  EXPECT_EQ(sent_back(plain, here, here), R"("reasoning":"hm",)");
}

TEST(OpenaiChat, SendsReasoningDetailsBackAsTheyWere) {
  const std::string here = "http://model.test/v1";
  const std::string body =
      delta(R"({"reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a\ud83d",)"
            R"("index":0,"format":"x","signature":null}]})") +
      delta(R"({"reasoning":"b","reasoning_details":[{"type":"reasoning.text","text":"\ude00b",)"
            R"("index":0,"signature":"s"}]})") +
      delta(R"({"reasoning_details":[{"type":"reasoning.encrypted","data":"gA","index":1}]})") +
      delta(R"({"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]})");
  EXPECT_EQ(sent_back(body, here, here),
            R"("reasoning_details":[{"type":"reasoning.text","text":"a\ud83d\ude00b","index":0,)"
            R"("format":"x","signature":"s"},)"
            R"({"type":"reasoning.encrypted","data":"gA","index":1}],)");
}

TEST(OpenaiChat, FillsInWhatAServerMisses) {
  ToolUseBlock signed_call{"d", "f", json_of("{}"), {{"extra_content", json_of(R"({"a":1})")}}};
  ListMessages messages({make_message(role::kUser, "q"),
                         make_message(role::kAssistant,
                                      {ThinkingBlock{"foreign", "sig", {}},
                                       ToolUseBlock{"c", "f", json_of("{}"), {}}},
                                      "openai-chat"),
                         make_message(role::kAssistant, {signed_call}, "openai-chat")});
  Request request{.model = "m", .messages = messages};
  EXPECT_THAT(*render_body(*chat(), request), testing::Not(HasSubstr("foreign")));
  request.form.fills_reasoning = true;
  const std::string filled = *render_body(*chat(), request);
  EXPECT_THAT(filled, HasSubstr(R"("reasoning_content":"foreign")"));
  EXPECT_THAT(filled, HasSubstr(R"("reasoning_content":"")"));
  EXPECT_THAT(filled, HasSubstr(R"("extra_content":{"a":1})"));
  EXPECT_THAT(filled, testing::Not(HasSubstr("thought_signature")));
  request.form = {.fills_signatures = true};
  EXPECT_THAT(*render_body(*chat(), request),
              HasSubstr(R"("extra_content":{"google":{"thought_signature":)"
                        R"("skip_thought_signature_validator"}})"));
}

// Parts of a call come in any chunk of its index, late or twice.
TEST(OpenaiChat, ReadsACallWhosePartsComeLate) {
  const auto call = [](std::string_view inner) {
    return delta(cat(R"({"tool_calls":[{"index":0,)", inner, "}]}"));
  };
  const auto expected = ElementsAre(kStarted, "tool c1: list_dir", R"(input: {"p":1})", "ended 1");
  for (const std::string& body : {
           call(R"("id":"c1","function":{"name":"","arguments":""})") +
               call(R"("function":{"name":"list_dir"})") +
               call(R"("function":{"arguments":"{\"p\":1}"})"),
           call(R"("function":{"name":"list_dir","arguments":""})") + call(R"("id":"c1")") +
               call(R"("function":{"arguments":"{\"p\":"})") +
               call(R"("function":{"arguments":"1}"})"),
           call(R"("function":{"arguments":"{\"p\""})") +
               call(R"("id":"c1","function":{"arguments":":1}"})") +
               call(R"("function":{"name":"list_dir"})"),
           call(R"("id":"c1","function":{"name":"list_"})") + call(R"("function":{"name":"dir"})") +
               call(R"("function":{"arguments":"{\"p\":1}"})"),
           call(R"("id":"c1","function":{"name":"list_dir","arguments":"{\"p\":1}"})") +
               call(R"("id":"c1","function":{"name":"list_dir","arguments":"{\"p\":1}"})"),
       }) {
    EXPECT_THAT(lines_in_all_chunkings(chat, body + finished("tool_calls") + kDone), expected)
        << body;
  }
}

TEST(OpenaiChat, CallsWithOneIdAreDistinct) {
  const std::string body =
      delta(R"({"tool_calls":[{"index":0,"id":"call_0","function":{"name":"a","arguments":"{}"}},)"
            R"({"index":1,"id":"call_0","function":{"name":"b","arguments":"{}"}}]})") +
      finished("tool_calls") + kDone;
  EXPECT_THAT(lines_in_all_chunkings(chat, body),
              ElementsAre(kStarted, "tool call_0: a", "input: {}", "tool call_0_2: b", "input: {}",
                          "ended 1"));
}

// A list that is sent whole with each piece is counted once.
TEST(OpenaiChat, RepeatedSourcesAreOneList) {
  const std::string list = cat("[\"", std::string(1000, 'x'), "\"]");
  std::string body;
  for (int piece = 0; piece < 100; ++piece) {
    body += one_event(cat(R"({"choices":[],"citations":)", list, "}"));
  }
  body += delta(R"({"content":"a","annotations":[ ],"tags":[ ]})") + delta(R"({"tags":[1]})") +
          finished("stop") + kDone;
  ProviderFixture bench(chat(), {{.body = body}}, {.answer_bytes_max = 20'000});
  ASSERT_TRUE(bench.ask());
  EXPECT_THAT(bench.lines(), testing::Contains(cat(R"(members: {"citations":)", list, "}")));
  EXPECT_THAT(bench.lines(), testing::Contains(R"(raw: {"type":"message_members","tags":[1]})"));
}

TEST(OpenaiChat, KeepsUnknownMembersOfCallsMessagesAndTexts) {
  const std::string body =
      delta(R"({"content":"a","annotations":[{"url":"u1"}],"vendor":{"x":1.0},"none":null})") +
      delta(R"({"annotations":[{"url":"u2"}]})") +
      delta(R"({"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{}"},)"
            R"("extra_content":{"google":{"thought_signature":"gA"}}}]})") +
      one_event(R"({"choices":[],"citations":["v1"]})") +
      one_event(R"({"choices":[],"citations":["v1","v2"]})") + finished("tool_calls") + kDone;
  EXPECT_THAT(
      lines_in_all_chunkings(chat, body),
      ElementsAre(kStarted, "text: a", "tool c1: f", "input: {}",
                  R"(members of the call: {"extra_content":{"google":{"thought_signature":"gA"}}})",
                  R"(raw: {"type":"message_members","vendor":{"x":1.0}})",
                  R"(members: {"annotations":[{"url":"u1"},{"url":"u2"}],"citations":["v1","v2"]})",
                  "ended 1"));
  ListMessages messages(
      {make_message(role::kAssistant,
                    {TextBlock{"a", {}},
                     UnknownBlock{"message_members",
                                  json_of(R"({"type":"message_members","vendor":{"x":1.0}})")}},
                    "openai-chat")});
  Request request{.model = "m", .messages = messages};
  EXPECT_THAT(*render_body(*chat(), request),
              HasSubstr(R"({"role":"assistant","content":"a","vendor":{"x":1.0}})"));
}

// Which ends are good is a table: anything else means that the answer was cut.
TEST(OpenaiChat, OnlyKnownEndsAreGood) {
  const auto end = [](std::string_view word) {
    ProviderFixture bench(chat(), {{.body = delta(R"({"content":"a"})") + finished(word) + kDone}});
    EXPECT_TRUE(bench.ask()) << word;
    return bench.lines().back();
  };
  for (const std::string_view word :
       {"stop", "eos", "eos_token", "stop_sequence", "COMPLETE", ""}) {
    EXPECT_EQ(end(word), "ended 0") << word;
  }
  EXPECT_EQ(end("function_call"), "ended 1");
  EXPECT_EQ(end("length"), "ended 2");
  EXPECT_EQ(end("content_filter"), "ended 3 content_filter");
  for (const std::string_view word : {"error", "abort", "network_error", "model_length",
                                      "insufficient_system_resource", "unheard-of"}) {
    EXPECT_EQ(end(word), cat("ended 4 ", word));
  }
}

TEST(OpenaiChat, WithoutAReasonAnAnswerMustBeWhole) {
  const auto end = [](const std::string& deltas) {
    ProviderFixture bench(chat(), {{.body = deltas + kDone}});
    EXPECT_TRUE(bench.ask());
    return bench.lines().back();
  };
  EXPECT_EQ(end(delta(R"({"content":"a"})")), "ended 0");
  EXPECT_EQ(end(delta(R"({"tool_calls":[{"index":0,"id":"c","function":{"name":"f",)"
                      R"("arguments":"{}"}}]})")),
            "ended 1");
  EXPECT_EQ(end(delta(R"({"tool_calls":[{"index":0,"id":"c","function":{"name":"f",)"
                      R"("arguments":"{\"a\":"}}]})")),
            "ended 4");
  EXPECT_EQ(end(delta(R"({"reasoning_content":"hm"})")), "ended 4");
}

TEST(OpenaiChat, ErrorsInTheStreamAreShownInEveryShape) {
  for (const std::string_view event : {
           R"(data: {"code":500,"message":"inner trouble","choices":null})",
           R"(data: {"detail":"inner trouble"})",
           R"(data: {"error":{"message":"inner trouble"}})",
           "event: error\ndata: {\"message\":\"inner trouble\"}",
           "event: error\ndata: inner trouble",
       }) {
    ProviderFixture bench(chat(), {{.body = cat(delta(R"({"content":"a"})"), event, "\n\n")}});
    EXPECT_EQ(bench.ask().error().message, "model.test ended the answer early: inner trouble")
        << event;
  }
}

TEST(OpenaiChat, ReasoningBesideTheCompletionIsOutput) {
  const auto usage = [](std::string_view json) {
    ProviderFixture bench(
        chat(), {{.body = cat(delta(R"({"content":"a"})"), finished("stop"),
                              one_event(cat(R"({"choices":[],"usage":)", json, "}")), kDone)}});
    EXPECT_TRUE(bench.ask());
    return bench.lines().at(2);
  };
  EXPECT_THAT(usage(R"({"prompt_tokens":12,"completion_tokens":3,"total_tokens":40,)"
                    R"("completion_tokens_details":{"reasoning_tokens":25}})"),
              HasSubstr(R"("input_tokens":12,"output_tokens":28,"reasoning_tokens":25)"));
  EXPECT_THAT(usage(R"({"prompt_tokens":12.0,"completion_tokens":28,"total_tokens":40,)"
                    R"("completion_tokens_details":{"reasoning_tokens":25.0}})"),
              HasSubstr(R"("input_tokens":12,"output_tokens":28,"reasoning_tokens":25)"));
}

}  // namespace
}  // namespace openai_chat
}  // namespace reprise::provider
