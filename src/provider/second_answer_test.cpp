// Gateways that join two answers to one stream: their pieces are never one answer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "provider/codec.h"
#include "provider/testing/fixture.h"

namespace reprise::provider {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string data(std::initializer_list<std::string_view> events) {
  std::string out;
  for (const std::string_view event : events) {
    out += cat("data: ", event, "\n\n");
  }
  return out;
}

void expect_second(std::unique_ptr<Codec> codec, const std::string& body) {
  ProviderFixture bench(std::move(codec), {{.body = body}}, {.retries_max = 0});
  const auto outcome = bench.ask();
  ASSERT_FALSE(outcome) << body;
  EXPECT_THAT(outcome.error().message, HasSubstr("another answer begins"));
  EXPECT_THAT(bench.lines(), testing::Each(Not(HasSubstr("ended"))));
  EXPECT_THAT(bench.lines(), testing::Each(Not(HasSubstr("so{"))));
}

void expect_one(std::unique_ptr<Codec> codec, const std::string& body) {
  ProviderFixture bench(std::move(codec), {{.body = body}});
  EXPECT_TRUE(bench.ask()) << body;
}

constexpr std::string_view kMessage =
    R"({"type":"message_start","message":{"id":"a","model":"m","content":[]}})";
constexpr std::string_view kCall =
    R"({"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{}}})";
constexpr std::string_view kOther =
    R"({"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t2","name":"f","input":{}}})";
constexpr std::string_view kPiece =
    R"({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":\"so"}})";
constexpr std::string_view kWhole =
    R"({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}})";
constexpr std::string_view kReason =
    R"({"type":"message_delta","delta":{"stop_reason":"tool_use"}})";
constexpr std::string_view kStop = R"({"type":"message_stop"})";

TEST(SecondAnswer, OfAnthropic) {
  expect_second(make_anthropic(),
                data({kMessage, kCall, kPiece, kMessage, kOther, kWhole, kReason, kStop}));
  expect_second(make_anthropic(), data({kMessage, kCall, kPiece, kOther, kWhole, kReason, kStop}));
  expect_one(make_anthropic(), data({kMessage, kCall, kWhole, kReason, kStop, kMessage}));
}

TEST(SecondAnswer, OfResponses) {
  constexpr std::string_view kCreated =
      R"({"type":"response.created","response":{"id":"r","model":"m"}})";
  constexpr std::string_view kProgress =
      R"({"type":"response.in_progress","response":{"id":"r","model":"m"}})";
  constexpr std::string_view kAdded =
      R"({"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c1","name":"f","arguments":""}})";
  constexpr std::string_view kAnother =
      R"({"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c2","name":"f","arguments":""}})";
  constexpr std::string_view kSome =
      R"({"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"a\":\"so"})";
  constexpr std::string_view kAll =
      R"({"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"a\":1}"})";
  constexpr std::string_view kCompleted =
      R"({"type":"response.completed","response":{"id":"r","status":"completed","output":[]}})";
  expect_second(make_openai_responses(),
                data({kCreated, kAdded, kSome, kCreated, kAnother, kAll, kCompleted}));
  expect_second(make_openai_responses(),
                data({kCreated, kProgress, kAdded, kSome, kAnother, kAll, kCompleted}));
  expect_one(make_openai_responses(), data({kCreated, kProgress, kAdded, kAll, kCompleted}));
}

TEST(SecondAnswer, OfChat) {
  const auto chunk = [](std::string_view id, std::string_view delta, std::string_view finish) {
    return cat(R"({"id":")", id, R"(","model":"m","choices":[{"delta":)", delta,
               R"(,"finish_reason":)", finish, "}]}");
  };
  constexpr std::string_view kBegin =
      R"({"role":"assistant","tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":""}}]})";
  constexpr std::string_view kSome =
      R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":\"so"}}]})";
  constexpr std::string_view kAll =
      R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1}"}}]})";
  constexpr std::string_view kTools = R"("tool_calls")";
  expect_second(chat_codec(),
                data({chunk("a", kBegin, "null"), chunk("a", kSome, "null"),
                      chunk("b", kBegin, "null"), chunk("b", kAll, kTools), "[DONE]"}));
  // Some servers name each chunk anew, or only some of them.
  expect_one(chat_codec(), data({chunk("a", kBegin, "null"), chunk("b", kAll, "null"),
                                 chunk("c", "{}", kTools), "[DONE]"}));
  expect_one(chat_codec(), data({chunk("", kBegin, "null"), chunk("a", kAll, "null"),
                                 chunk("a", "{}", kTools), chunk("", "{}", "null"), "[DONE]"}));
}

}  // namespace
}  // namespace reprise::provider
