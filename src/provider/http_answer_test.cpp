// Responses: endless answers, model lists, rejected parameters.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "base/text.h"
#include "provider/codec.h"
#include "provider/testing/fixture.h"

namespace reprise::provider {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string chunk_of(std::string_view delta) {
  return cat(R"(data: {"choices":[{"delta":)", delta, "}]}\n\n");
}

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) {
    out += text;
  }
  return out;
}

// The outcome of an endless answer with a limit of 4000 bytes.
Result<> ask_endless(const std::string& body, std::vector<std::string>* lines = nullptr,
                     std::unique_ptr<Codec> codec = chat_codec()) {
  ProviderFixture bench(std::move(codec),
                        {{.body = body, .split_offsets = {1000, 3000, 5000, 8000}}},
                        {.answer_bytes_max = 4000});
  auto outcome = bench.ask();
  EXPECT_EQ(bench.sent().size(), 1U);  // a retry would be the same
  if (lines != nullptr) {
    *lines = bench.lines();
  }
  return outcome;
}

TEST(HttpProvider, EndsAnAnswerThatIsTooLarge) {
  const std::string delta = chunk_of(R"({"content":"0123456789"})");
  std::vector<std::string> lines;
  const auto outcome = ask_endless(repeated(delta, 1000), &lines);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::io);
  EXPECT_EQ(outcome.error().message,
            "model.test sent more than 4000 bytes in one answer; max_answer_bytes is the limit");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1].size(), std::string_view("text: ").size() + 4010);
}

TEST(HttpProvider, LimitsThinkingInputsSmallBlocksAndEmptyEvents) {
  const std::string floods[] = {
      repeated(chunk_of(R"({"reasoning_content":"0123456789"})"), 1000),
      cat(chunk_of(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f"}}]})"),
          repeated(chunk_of(R"({"tool_calls":[{"index":0,"function":{"arguments":"01234567"}}]})"),
                   1000)),
      // Text that is delayed until the end of a call.
      cat(chunk_of(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f"}}]})"),
          repeated(chunk_of(R"({"content":"0123456789"})"), 1000)),
      repeated(cat(chunk_of(R"({"content":"a"})"), chunk_of(R"({"reasoning_content":"b"})")), 100),
      repeated(": a comment\n", 1000),
      repeated(chunk_of("{}"), 1000),
      cat("data: ", std::string(10'000, 'x')),
      std::string(10'000, ' '),
      cat("{\"a\":\"", std::string(10'000, 'x')),
  };
  for (const std::string& flood : floods) {
    const auto outcome = ask_endless(flood);
    ASSERT_FALSE(outcome) << flood.substr(0, 80);
    EXPECT_THAT(outcome.error().message, HasSubstr("sent more than 4000 bytes"))
        << flood.substr(0, 80);
  }
}

std::string event_of(std::string_view json) {
  return cat("data: ", json, "\n\n");
}

TEST(HttpProvider, AReasonThatTheSettingsNameIsAGoodEnd) {
  struct Ending {
    std::unique_ptr<Codec> (*codec)();
    std::string body;
  };
  const Ending endings[] = {
      {[] { return chat_codec(); },
       event_of(R"({"choices":[{"delta":{"content":"a"},"finish_reason":"fin"}]})")},
      {[] { return make_openai_responses("http://model.test/v1"); },
       event_of(R"({"type":"response.incomplete","response":{"id":"r","status":"incomplete",)"
                R"("output":[{"type":"message","content":[{"text":"a"}]}],)"
                R"("incomplete_details":{"reason":"fin"}}})")},
      {[] { return make_anthropic(); },
       event_of(R"({"type":"message_start","message":{"id":"a","model":"m","content":[]}})") +
           event_of(R"({"type":"content_block_start","index":0,)"
                    R"("content_block":{"type":"text","text":"a"}})") +
           event_of(R"({"type":"message_delta","delta":{"stop_reason":"fin"}})") +
           event_of(R"({"type":"message_stop"})")},
  };
  for (const Ending& ending : endings) {
    ProviderFixture unknown(ending.codec(), {{.body = ending.body}});
    ASSERT_TRUE(unknown.ask());
    EXPECT_EQ(unknown.lines().back(), "ended 4 fin");
    ProviderFixture named(ending.codec(), {{.body = ending.body}}, {.good_ends = {"done", "fin"}});
    ASSERT_TRUE(named.ask());
    EXPECT_EQ(named.lines().back(), "ended 0");
  }
}

// What a reader holds until a block ends counts, too, even if text arrives in between.
TEST(HttpProvider, LimitsWhatIsHeldUntilABlockEnds) {
  struct Flood {
    std::unique_ptr<Codec> (*codec)();
    std::string body;
  };
  constexpr auto kAnthropic = [] { return make_anthropic(); };
  constexpr auto kResponses = [] { return make_openai_responses("http://model.test/v1"); };
  const std::string large(500, 's');
  const std::string text = event_of(
      R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}})");
  const auto begin = [](std::string_view block) {
    return event_of(cat(R"({"type":"content_block_start","index":0,"content_block":)", block, "}"));
  };
  std::string items;
  for (int i = 0; i < 1000; ++i) {
    items += event_of(
        cat(R"({"type":"response.output_text.delta","output_index":)", i, R"(,"delta":"x"})"));
    items += event_of(cat(R"({"type":"response.output_item.done","output_index":)", i,
                          R"(,"item":{"type":"message"}})"));
  }
  const Flood floods[] = {
      {kAnthropic,
       cat(begin(R"({"type":"text","text":""})"),
           repeated(cat(event_of(cat(R"({"type":"content_block_delta","index":0,"delta":)",
                                     R"({"type":"signature_delta","signature":")", large, "\"}}")),
                        text),
                    100))},
      {kAnthropic,
       cat(begin(R"({"type":"server_tool_use","id":"s","name":"n","input":{}})"),
           repeated(
               cat(event_of(cat(R"({"type":"content_block_delta","index":0,"delta":)",
                                R"({"type":"input_json_delta","partial_json":")", large, "\"}}")),
                   text),
               100))},
      // Blocks that do not end.
      {kAnthropic, repeated(cat(begin(cat(R"({"type":"unknown","data":")", large, "\"}")),
                                begin(R"({"type":"unknown"})")),
                            100)},
      {chat_codec,
       repeated(chunk_of(cat(R"({"content":"x","reasoning_details":[{"index":0,"type":"t",)",
                             R"("text":")", large, "\"}]}")),
                100)},
      {chat_codec, repeated(cat(chunk_of(R"({"content":"x","reasoning_details":[{"index":0}]})"),
                                chunk_of(R"({"content":"x","reasoning_details":[{"index":1}]})")),
                            1000)},
      {kResponses, items},
  };
  for (const Flood& flood : floods) {
    const auto outcome = ask_endless(flood.body, nullptr, flood.codec());
    ASSERT_FALSE(outcome) << flood.body.substr(0, 200);
    EXPECT_THAT(outcome.error().message, HasSubstr("sent more than 4000 bytes"))
        << flood.body.substr(0, 200);
  }
}

// It is not counted a second time when the block ends.
TEST(HttpProvider, CountsABlockOnce) {
  const std::string large(3000, 's');
  const std::string chat = cat(
      chunk_of(cat(R"({"content":"x","reasoning_details":[{"type":"t","text":")", large, "\"}]}")),
      kGood);
  EXPECT_TRUE(ProviderFixture(chat_codec(), {{.body = chat}}, {.answer_bytes_max = 4000}).ask());
  const std::string anthropic =
      cat(event_of(R"({"type":"content_block_start","index":0,)"
                   R"("content_block":{"type":"thinking","thinking":"t"}})"),
          event_of(cat(R"({"type":"content_block_delta","index":0,"delta":)",
                       R"({"type":"signature_delta","signature":")", large, "\"}}")),
          event_of(R"({"type":"content_block_stop","index":0})"),
          event_of(R"({"type":"message_stop"})"));
  EXPECT_TRUE(
      ProviderFixture(make_anthropic(), {{.body = anthropic}}, {.answer_bytes_max = 4000}).ask());
}

TEST(HttpProvider, AcceptsCommentsWithinAnAnswer) {
  const std::string quiet = repeated(": a comment that says nothing\n", 100);
  const auto outcome = ask_endless(cat(quiet, chunk_of(R"({"content":"a"})"), quiet, kGood));
  EXPECT_TRUE(outcome);
}

TEST(HttpProvider, BoundsTheToolCallsOfAnAnswer) {
  std::string body;
  for (std::size_t i = 0; i <= kAnswerCallsMax; ++i) {
    body += chunk_of(cat(R"({"tool_calls":[{"index":)", i, R"(,"id":"c)", i,
                         R"(","function":{"name":"f","arguments":"{}"}}]})"));
  }
  ProviderFixture bench(chat_codec(), {{.body = body}});
  const auto outcome = bench.ask();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "model.test made more than 4096 tool calls in one answer");
}

TEST(HttpProvider, ListsModelsPageByPage) {
  ProviderFixture bench(
      make_anthropic(),
      {{.body = R"({"data":[{"id":"a","display_name":"A"},{"type":"no id"}],)"
                R"("has_more":true,"last_id":"a&b/1"})"},
       {.body = R"({"data":[{"id":"b","shutdown_date":"2027-01-14"}],"has_more":false,)"
                R"("last_id":"b"})"}},
      {.base_url = "http://model.test", .api_key = "secret-key"});
  const auto models = bench.provider().models(std::chrono::seconds(5), {});
  ASSERT_TRUE(models) << models.error().message;
  EXPECT_EQ(*models, (std::vector<ModelInfo>{{.id = "a", .name = "A", .ends_on = ""},
                                             {.id = "b", .name = "", .ends_on = "2027-01-14"}}));
  EXPECT_EQ(bench.sent().at(0).method, "GET");
  EXPECT_EQ(bench.sent().at(0).url, "http://model.test/v1/models");
  EXPECT_EQ(http::find_header(bench.sent().at(0).headers, "x-api-key"), "secret-key");
  EXPECT_EQ(bench.sent().at(1).url, "http://model.test/v1/models?after_id=a%26b%2f1");
}

TEST(HttpProvider, ReportsWhyModelsAreNotListed) {
  for (const auto& [played, code] :
       {std::pair(RecordedResponse{.status = 404}, Code::unsupported),
        std::pair(RecordedResponse{.body = "<html>"}, Code::unsupported),
        std::pair(RecordedResponse{.status = 401, .body = R"({"error":"no"})"},
                  Code::unauthorized)}) {
    ProviderFixture bench(make_openai_responses(), {played});
    const auto models = bench.provider().models(std::chrono::seconds(5), {});
    ASSERT_FALSE(models);
    EXPECT_EQ(models.error().code, code) << models.error().message;
  }
}

TEST(HttpProvider, SuggestsSimilarModelsForAnUnknownOne) {
  ProviderFixture bench(
      make_openai_responses(),
      {{.status = 404, .body = R"({"error":{"message":"gone","code":"model_not_found"}})"},
       {.body = R"({"data":[{"id":"whisper-large"},{"id":"m2"},{"id":"m"}]})"}});
  const auto outcome = bench.ask();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(
      outcome.error().message,
      "model.test refused the request (404): gone; `reprise models` lists the ones available, "
      "such as m");
}

TEST(HttpProvider, RemovesARejectedParameter) {
  const std::string refusal =
      R"({"error":{"message":"no","param":"temperature","code":"unsupported_parameter"}})";
  ProviderFixture bench(make_openai_chat("http://model.test/v1"),
                        {{.status = 400, .body = refusal},
                         {.status = 400, .body = refusal},
                         {.status = 400, .body = R"({"error":"else"})"}},
                        {.retries_max = 0});
  ListMessages messages({make_message(role::kUser, "Hi")});
  Request request{.model = "m", .temperature = 0.5, .messages = messages};
  const auto outcome = bench.ask(request);
  ASSERT_FALSE(outcome);
  ASSERT_EQ(bench.sent().size(), 2U) << "once, though it is refused again";
  EXPECT_THAT(bench.sent().at(0).body, HasSubstr("temperature"));
  EXPECT_THAT(bench.sent().at(1).body, Not(HasSubstr("temperature")));
  EXPECT_EQ(bench.lines(), std::vector<std::string>{
                               "without temperature: model.test refused the request (400): no"});
  // Later requests omit it at once; requests to other models do not.
  (void)bench.ask(request);
  EXPECT_THAT(bench.sent().at(2).body, Not(HasSubstr("temperature")));
  request.model = "other";
  (void)bench.ask(request);
  EXPECT_THAT(bench.sent().at(3).body, HasSubstr("temperature"));
}

}  // namespace
}  // namespace reprise::provider
