#include "provider/http_provider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "base/text.h"
#include "base/utf8.h"
#include "provider/codec.h"
#include "provider/refusal.h"
#include "provider/testing/fixture.h"

namespace reprise::provider {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

Error lost() {
  return {Code::io, "the connection to model.test was lost", ECONNRESET};
}

// The deltas of an answer that arrives in two parts, the first of `first_bytes`.
std::vector<std::string> deltas(const std::string& body, std::size_t first_bytes) {
  ProviderFixture bench(chat_codec(), {{.body = body, .split_offsets = {first_bytes}}});
  ListMessages messages({make_message(role::kUser, "Hi")});
  Request request{.model = "m", .messages = messages};
  std::vector<std::string> texts;
  const auto sink = [&](const StreamEvent& event) {
    if (const auto* delta = std::get_if<TextDelta>(&event); delta != nullptr) {
      texts.emplace_back(delta->text);
    }
  };
  EXPECT_TRUE(bench.provider().stream(request, sink, {}));
  return texts;
}

TEST(HttpProvider, EmitsWhatArrivedTogetherAtOnce) {
  const auto piece = [](std::string_view text) {
    return cat(R"(data: {"choices":[{"delta":{"content":")", text, "\"}}]}\n\n");
  };
  const std::string first = cat(piece("a"), piece("b"));
  const std::string body = cat(first, piece("c"), kGood);
  EXPECT_THAT(deltas(body, first.size()), ElementsAre("ab", "chi"));
  EXPECT_THAT(deltas(body, first.size() - 1), ElementsAre("a", "bchi"));
}

TEST(HttpProvider, MapsStatusesToErrors) {
  struct Case {
    int status;
    const char* body;
    Code code;
    const char* message;
  };
  const Case cases[] = {
      {401, R"({"error":{"message":"Incorrect key sk-secret."}})", Code::unauthorized,
       "model.test rejected the API key (401): Incorrect key ***; check the key in "
       "OPENAI_API_KEY"},
      {403, "", Code::unauthorized,
       "model.test rejected the API key (403); check the key in OPENAI_API_KEY"},
      {400, R"({"error":"bad\u001b[2J\nthing"})", Code::invalid_argument,
       "model.test refused the request (400): bad [2J thing"},
      {404, R"({"detail":"no such model"})", Code::invalid_argument,
       "model.test refused the request (404): no such model; `reprise models` lists the ones "
       "available"},
      {413, "too big", Code::too_long,
       "model.test rejected the request as too long (413): too big"},
      {422, R"([{"error":{"message":"listed"}}])", Code::invalid_argument,
       "model.test refused the request (422): listed"},
      {429, R"({"message":"slow down"})", Code::rate_limited,
       "model.test is limiting requests (429): slow down; try again later"},
      {429, R"({"error":{"code":"insufficient_quota","message":"pay"}})", Code::rate_limited,
       "model.test says that the account is empty (429): pay; check the account's plan"},
      {429, R"({"error":{"code":"1113","message":"Insufficient balance. Please recharge."}})",
       Code::rate_limited,
       "model.test says that the account is empty (429): Insufficient balance. Please recharge; "
       "check the account's plan"},
      {407, "<html>auth</html>", Code::unauthorized,
       "the proxy requires a password (407); set http_proxy to http://USER:PASSWORD@PROXY"},
      {400, R"({"error":{"message":"Model Not Exist"}})", Code::invalid_argument,
       "model.test refused the request (400): Model Not Exist; `reprise models` lists the ones "
       "available"},
      {400, R"({"error":{"message":"The model `x` has been decommissioned"}})",
       Code::invalid_argument,
       "model.test refused the request (400): The model `x` has been decommissioned; `reprise "
       "models` lists the ones available"},
      {400, R"({"error":{"message":"`temperature` is deprecated for this model"}})",
       Code::invalid_argument,
       "model.test refused the request (400): `temperature` is deprecated for this model"},
      {408, "", Code::timeout, "model.test timed out (408); try again"},
      {500, "<html>oops</html>", Code::io, "model.test failed (500); try again later"},
      {529, R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})",
       Code::io, "model.test failed (529): Overloaded; try again later"},
  };
  for (const Case& one : cases) {
    ProviderFixture bench(chat_codec(), {{.status = one.status, .body = one.body}},
                          {.api_key = "sk-secret", .retries_max = 0});
    const auto outcome = bench.ask();
    ASSERT_FALSE(outcome) << one.status;
    EXPECT_EQ(outcome.error().code, one.code) << one.status;
    EXPECT_EQ(outcome.error().message, one.message);
    EXPECT_THAT(bench.lines(), IsEmpty());
  }
}

// Actual responses of servers, abbreviated.
TEST(HttpProvider, ClassifiesRefusals) {
  struct Case {
    int status;
    const char* body;
  };
  const Case too_long[] = {
      {400,
       R"({"error":{"message":"This model's maximum context length is 8192 tokens. However, your )"
       R"(messages resulted in 9001 tokens.","type":"invalid_request_error","param":"messages",)"
       R"("code":"context_length_exceeded"}})"},
      {400, R"({"error":{"message":"Your input exceeds the context window of this model.",)"
            R"("type":"invalid_request_error","param":"input","code":"context_length_exceeded"}})"},
      {429, R"({"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): )"
            R"(Limit 30000, Requested 41000.","type":"tokens","code":"rate_limit_exceeded"}})"},
      {400, R"({"type":"error","error":{"type":"invalid_request_error",)"
            R"("message":"prompt is too long: 207368 tokens > 200000 maximum"}})"},
      {400, R"({"type":"error","error":{"type":"invalid_request_error","message":"input length )"
            R"(and `max_tokens` exceed context limit: 190000 + 21333 > 200000"}})"},
      {413, R"({"type":"error","error":{"type":"request_too_large","message":"Request exceeds )"
            R"(the maximum size"}})"},
      {400, R"({"error":{"code":400,"message":"request (8708 tokens) exceeds the available )"
            R"(context size (8192 tokens), try increasing it","type":)"
            R"("exceed_context_size_error","n_prompt_tokens":8708,"n_ctx":8192}})"},
      {500, R"({"error":{"code":500,"message":"the request exceeds the available context size. )"
            R"(try increasing the context size or enable context shift","type":"server_error"}})"},
      {400, R"({"error":"prompt too long; exceeded max context length by 12 tokens"})"},
      {400, R"({"object":"error","message":"This model's maximum context length is 2048 tokens. )"
            R"(However, you requested 2100 tokens","type":"BadRequestError","code":400})"},
      {400, R"({"object":"error","message":"The prompt (total length 25938) is too long to fit )"
            R"(into the model (context length 4096).","type":"BadRequestError","code":400})"},
      {400, R"([{"error":{"code":400,"message":"The input token count (1200000) exceeds the )"
            R"(maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}])"},
  };
  const Case no_images[] = {
      {400, R"({"error":{"message":"Invalid content type. image_url is only supported by certain )"
            R"(models.","type":"invalid_request_error","param":"messages.[0].content.[1].type",)"
            R"("code":null}})"},
      {400, R"({"type":"error","error":{"type":"invalid_request_error","message":"messages.2.)"
            R"(content.0.image.source.base64: image exceeds 5 MB maximum"}})"},
      {400, R"({"type":"error","error":{"type":"invalid_request_error",)"
            R"("message":"Could not process image"}})"},
      {500, R"({"error":{"code":500,"message":"image input is not supported - hint: if this is )"
            R"(unexpected, you may need to provide the mmproj","type":"server_error"}})"},
      {400, R"({"error":{"message":"this model does not support image input"}})"},
      {400, R"({"object":"error","message":"m is not a multimodal model","code":400})"},
      {400, R"({"error":{"message":"At most 0 image(s) may be provided in one prompt.",)"
            R"("type":"BadRequestError","code":400}})"},
      {404, R"({"error":{"code":"404","message":"No endpoints found that support image input"}})"},
      {422, R"({"error":{"message":"messages[0]: unknown variant `image_url`, expected `text`"}})"},
  };
  const auto code_of = [](const Case& one) {
    ProviderFixture bench(chat_codec(), {{.status = one.status, .body = one.body}});
    const auto outcome = bench.ask();
    EXPECT_EQ(bench.sent().size(), 1U) << "another try cannot help: " << one.body;
    return outcome ? Code::io : outcome.error().code;
  };
  for (const Case& one : too_long) {
    EXPECT_EQ(code_of(one), Code::too_long) << one.body;
  }
  for (const Case& one : no_images) {
    EXPECT_EQ(code_of(one), Code::unsupported) << one.body;
  }
  ProviderFixture streamed(chat_codec(), {{.body = cat("data: ", too_long[0].body, "\n\n")}});
  EXPECT_EQ(streamed.ask().error().code, Code::too_long);
  EXPECT_EQ(streamed.sent().size(), 1U);
}

TEST(Refusal, TellsWhatAnotherFormMayMend) {
  const auto is_form = [](int status, std::string_view body) {
    return refusal_of(status, body).has_value();
  };
  EXPECT_TRUE(
      is_form(400, R"({"error":{"message":"something new","type":"invalid_request_error"}})"));
  EXPECT_TRUE(is_form(422, R"({"detail":"no"})"));
  EXPECT_FALSE(is_form(404, R"({"error":"No endpoints support tool use"})")) << "a path";
  EXPECT_TRUE(is_form(424, R"({"error":"tool results must follow"})"));
  EXPECT_TRUE(is_form(500, R"({"error":"Jinja Exception: roles must alternate"})"));
  EXPECT_FALSE(is_form(500, "oops"));
  EXPECT_FALSE(is_form(502, R"({"error":"a template"})")) << "a gateway's error";
  EXPECT_FALSE(is_form(500, "<html><body class=\"template\">Error</body></html>"));
  EXPECT_TRUE(is_form(400, R"({"detail":[{"msg":"no","input":"recharge, billing details"}]})"))
      << "it repeats the request";
  EXPECT_FALSE(is_form(404, ""));
  EXPECT_FALSE(is_form(404, R"({"error":"model gone"})"));
  EXPECT_FALSE(is_form(401, R"({"error":"key"})"));
  EXPECT_FALSE(is_form(429, R"({"error":"slow down"})"));
  for (const std::string_view code :
       {"invalid_api_key", "insufficient_quota", "model_not_found", "content_policy_violation",
        "rate_limit_exceeded", "unsupported_country_region_territory", "permission_error"}) {
    EXPECT_FALSE(is_form(400, cat(R"({"error":{"message":"no","code":")", code, R"("}})"))) << code;
  }
}

TEST(Refusal, ReadsLengths) {
  const auto of = [](std::string_view words) {
    return refusal_of(400, cat(R"({"error":{"message":")", words, R"("}})")).value_or(Refusal());
  };
  const auto prompt = of("prompt is too long: 207368 tokens > 200000 maximum");
  EXPECT_TRUE(prompt.is_length);
  EXPECT_EQ(prompt.size, 207368);
  EXPECT_EQ(prompt.limit, 200000);
  const auto asked = of("Your request exceeded model token limit: 262,144 (requested: 291,351)");
  EXPECT_EQ(asked.size, 291351);
  EXPECT_EQ(asked.limit, 262144);
  EXPECT_TRUE(of("Range of input length should be [1, 129024]").is_length);
  EXPECT_FALSE(of("temperature: 1.5 > 1").is_length);
  EXPECT_FALSE(of("too many tools: 2000 > 128").is_length);
  EXPECT_FALSE(
      of("string too long. Expected a string with maximum length 40, but got 83").is_length);
}

TEST(Refusal, ItsWordsMayAskForAForm) {
  const auto hint = [](std::string_view words) {
    return refusal_of(400, cat(R"({"error":{"message":")", words, R"("}})"))
        .value_or(Refusal())
        .hint;
  };
  EXPECT_TRUE(hint("reasoning_content is missing in assistant message").fills_reasoning);
  EXPECT_TRUE(hint("Function call is missing a thought_signature").fills_signatures);
  EXPECT_TRUE(hint("Invalid `signature` in `thinking` block").omits_opaque);
  EXPECT_TRUE(hint("Encrypted content is not supported here").omits_opaque);
  EXPECT_TRUE(hint("property 'reasoning' is unsupported").omits_opaque);
  EXPECT_TRUE(hint("Tool call id was x but must be a-z, with a length of 9").strict_ids);
  EXPECT_TRUE(hint("Unexpected role 'user' after role 'tool'").answers_results);
  EXPECT_TRUE(hint("this model does not support image input").omits_media);
  EXPECT_TRUE(hint("'messages[0].role' does not support 'system'").prompt_in_question);
  EXPECT_TRUE(hint("library/m does not support tools").tools_as_text);
  EXPECT_TRUE(hint("This model does not support effort level 'xhigh'").omits_parameters);
  EXPECT_TRUE(hint("The `reasoning_content` must be passed back").fills_reasoning);
  EXPECT_FALSE(hint("the following must be satisfied[('messages.2' : property 'reasoning_content' "
                    "is unsupported)]")
                   .fills_reasoning);
  EXPECT_EQ(hint("something new"), RequestForm());
}

TEST(Refusal, InAStreamItIsReadLikeAnyOther) {
  const auto refusal = [](std::string_view error) {
    ProviderFixture bench(chat_codec(), {{.body = cat("data: {\"error\":", error, "}\n\n")}},
                          {.retries_max = 0});
    ListMessages messages({make_message(role::kUser, "Hi")});
    Request request{.model = "m", .messages = messages};
    EXPECT_FALSE(bench.ask(request));
    return request.refusal;
  };
  const auto wrapped =
      refusal(R"({"message":"Provider returned error","code":400,"metadata":{"raw":)"
              R"("{\"message\":\"Unexpected role 'user' after role 'tool'\"}"}})");
  ASSERT_TRUE(wrapped);
  EXPECT_TRUE(wrapped->hint.answers_results);
  EXPECT_TRUE(refusal(R"({"message":"no","type":"invalid_request_error"})"));
  EXPECT_FALSE(refusal(
      R"({"message":"no","type":"invalid_request_error","code":"content_policy_violation"})"));
}

// The model's own mistake: the same request may do better.
TEST(HttpProvider, ABadAnswerIsAskedForAgain) {
  for (const std::string_view code :
       {"tool_use_failed", "output_parse_failed", "json_validate_failed"}) {
    const std::string error = cat(R"({"error":{"message":"it does not fit","code":")", code,
                                  R"(","type":"invalid_request_error"}})");
    for (const RecordedResponse& bad :
         {RecordedResponse{.status = 400, .body = error},
          RecordedResponse{.body = cat("event: error\ndata: ", error, "\n\n")}}) {
      ProviderFixture bench(chat_codec(), {bad, {.body = kGood}});
      EXPECT_TRUE(bench.ask()) << code;
      ASSERT_EQ(bench.sent().size(), 2U);
      EXPECT_EQ(bench.sent().at(0).body, bench.sent().at(1).body);
    }
  }
}

TEST(HttpProvider, WaitsAsLongAsTheBodyOfARefusalAsks) {
  constexpr std::string_view kWords = "You exceeded your current quota, please check your plan";
  const auto refusal = [&](std::string_view limit) {
    return RecordedResponse{
        .status = 429,
        .body = cat(R"([{"error":{"code":429,"message":")", kWords,
                    R"(","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":")",
                    limit, R"("}]},{"@type":"RetryInfo","retryDelay":"34.4s"}]}}])")};
  };
  ProviderFixture minute(chat_codec(), {refusal("RequestsPerMinutePerProject"), {.body = kGood}});
  EXPECT_TRUE(minute.ask());
  EXPECT_THAT(minute.pauses, ElementsAre(34'400));
  ProviderFixture day(chat_codec(), {refusal("RequestsPerDayPerProject"), {.body = kGood}});
  EXPECT_EQ(day.ask().error().message, cat("model.test says that the account is empty (429): ",
                                           kWords, "; check the account's plan"));
  EXPECT_EQ(day.sent().size(), 1U);
}

TEST(HttpProvider, WhatWasGivenForThisTurnIsNotLeftOut) {
  const std::string refusal =
      R"({"error":{"message":"no","param":"temperature","code":"unsupported_parameter"}})";
  for (const bool is_given : {false, true}) {
    ProviderFixture bench(chat_codec(), {{.status = 400, .body = refusal}, {.body = kGood}});
    ListMessages messages({make_message(role::kUser, "Hi")});
    Request request{
        .model = "m",
        .temperature = 0.5,
        .given = is_given ? std::vector<std::string>{"temperature"} : std::vector<std::string>{},
        .messages = messages};
    EXPECT_EQ(bench.ask(request).has_value(), !is_given);
    EXPECT_EQ(bench.sent().size(), is_given ? 1U : 2U);
    EXPECT_FALSE(request.refusal) << "no other form helps";
  }
}

TEST(HttpProvider, AFormLeavesOutWhatWasNotGiven) {
  ProviderFixture bench(chat_codec(), {{.body = kGood}},
                        {.extra = json_of(R"({"vendor_option":1})")});
  ListMessages messages({make_message(role::kUser, "Hi")});
  Request request{.model = "m",
                  .temperature = 0.5,
                  .options = {.effort = "high", .stop = {"x"}, .seed = 7},
                  .form = {.omits_parameters = true},
                  .given = {"effort"},
                  .messages = messages};
  ASSERT_TRUE(bench.ask(request));
  const std::string& body = bench.sent().at(0).body;
  for (const std::string_view sent : {"reasoning_effort", "\"stop\"", "\"model\""}) {
    EXPECT_TRUE(body.contains(sent)) << sent;
  }
  for (const std::string_view left_out : {"temperature", "seed", "vendor_option"}) {
    EXPECT_FALSE(body.contains(left_out)) << left_out;
  }
}

TEST(HttpProvider, AGivenPartOfAParameterDoesNotKeepTheOthers) {
  ProviderFixture bench(
      make_openai_responses(),
      {{.status = 400,
        .body = R"({"error":{"message":"Unsupported","param":"reasoning.summary"}})"},
       {.status = 400, .body = "{}"}},
      {.base_url = "http://model.test/v1"});
  ListMessages messages({make_message(role::kUser, "Hi")});
  Request request{.model = "m",
                  .options = {.effort = "high", .reasoning_summary = "auto"},
                  .given = {"effort"},
                  .messages = messages};
  EXPECT_FALSE(bench.ask(request));
  ASSERT_EQ(bench.sent().size(), 2U);
  EXPECT_TRUE(bench.sent()[0].body.contains("\"summary\""));
  EXPECT_FALSE(bench.sent()[1].body.contains("\"summary\""));
  EXPECT_TRUE(bench.sent()[1].body.contains("\"effort\""));
}

// What one form leaves out is not left out of later requests.
TEST(HttpProvider, AFormIsNotLearned) {
  ProviderFixture bench(chat_codec(),
                        {{.status = 400,
                          .body = R"({"error":{"message":"Unsupported","param":"max_tokens",)"
                                  R"("code":"unsupported_parameter"}})"},
                         {.body = kGood},
                         {.body = kGood}});
  for (const bool omits : {true, false}) {
    ListMessages messages({make_message(role::kUser, "Hi")});
    Request request{.model = "m",
                    .temperature = 0.5,
                    .max_tokens = 9,
                    .form = {.omits_parameters = omits},
                    .given = {"max_tokens"},
                    .messages = messages};
    ASSERT_TRUE(bench.ask(request));
  }
  ASSERT_EQ(bench.sent().size(), 3U);
  EXPECT_FALSE(bench.sent()[1].body.contains("temperature"));
  EXPECT_TRUE(bench.sent()[2].body.contains("temperature"));
  EXPECT_TRUE(bench.sent()[2].body.contains("max_completion_tokens"));
}

TEST(HttpProvider, ALongRequestIsSentAgainWithItsLengthIfTheServerWantsIt) {
  ProviderFixture bench(chat_codec(), {{.status = 411}, {.body = kGood}, {.body = kGood}});
  for (int turn = 0; turn < 2; ++turn) {
    ListMessages messages({make_message(role::kUser, "Hi")}, 2'000'000);
    Request request{.model = "m", .messages = messages};
    EXPECT_TRUE(bench.ask(request));
  }
  ASSERT_EQ(bench.sent().size(), 3U);
  EXPECT_NE(bench.sent()[0].source, nullptr);
  EXPECT_EQ(bench.sent()[1].source, nullptr);
  EXPECT_EQ(bench.sent()[2].source, nullptr);
}

TEST(HttpProvider, RedirectsAreReportedAndNotFollowed) {
  ProviderFixture bench(chat_codec(),
                        {{.status = 307, .headers = {{"Location", "https://u:p@evil.test/x"}}}});
  const auto outcome = bench.ask();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message,
            "model.test redirects (307) to evil.test; set the base URL to where the provider "
            "answers");
  EXPECT_EQ(bench.sent().size(), 1U);
}

TEST(HttpProvider, WithoutAKeyNamesItsVariable) {
  ProviderFixture bench(chat_codec(), {{.status = 401}});
  EXPECT_EQ(bench.ask().error().message,
            "model.test requires a key, and none was sent (401); set OPENAI_API_KEY");
  ProviderFixture advised(chat_codec(), {{.status = 401}}, {.key_advice = "give it one"});
  EXPECT_EQ(advised.ask().error().message,
            "model.test requires a key, and none was sent (401); give it one");
}

TEST(HttpProvider, RetriesWithGrowingPauses) {
  ProviderFixture bench(chat_codec(), {{.status = 500},
                                       {.status = 0, .lost = lost()},
                                       {.status = 429, .headers = {{"Retry-After", "7"}}},
                                       {.body = kGood}});
  ASSERT_TRUE(bench.ask());
  EXPECT_THAT(bench.pauses, ElementsAre(500, 1000, 7000));
  EXPECT_THAT(
      bench.lines(),
      ElementsAre(
          "retry 2/5 after 500, server error (500): model.test failed (500); try again later",
          "retry 3/5 after 1000, : the connection to model.test was lost",
          "retry 4/5 after 7000, server is busy (429): model.test is limiting requests (429); try "
          "again "
          "later",
          "started : ", "text: hi", "ended 0"));
  EXPECT_EQ(bench.sent().at(0).body, bench.sent().at(3).body);
}

TEST(HttpProvider, FailsAfterTheLastRetry) {
  ProviderFixture bench(chat_codec(), {{.status = 503}}, {.retries_max = 2});
  EXPECT_EQ(bench.ask().error().code, Code::io);
  EXPECT_EQ(bench.sent().size(), 3U);
}

TEST(HttpProvider, RetriesOnlyTemporaryErrors) {
  const auto tries = [](RecordedResponse played) {
    ProviderFixture bench(chat_codec(), {std::move(played)});
    EXPECT_FALSE(bench.ask());
    return bench.sent().size();
  };
  EXPECT_EQ(tries({.status = 400}), 1U);
  EXPECT_EQ(tries({.status = 401}), 1U);
  EXPECT_EQ(tries({.status = 429, .body = R"({"error":{"code":"insufficient_quota"}})"}), 1U);
  EXPECT_EQ(tries({.status = 429, .headers = {{"retry-after", "3600"}}}), 1U);
  EXPECT_EQ(tries({.status = 0, .lost = Error{Code::io, "refused", ECONNREFUSED}}), 1U);
  EXPECT_EQ(tries({.status = 0, .lost = Error{Code::timeout, "silent", 0}}), 1U);
  EXPECT_EQ(tries({.status = 0, .lost = Error{Code::cancelled, "stopped", 0}}), 1U);
  EXPECT_EQ(tries({.body = "<html>a portal</html>"}), 1U);
  EXPECT_EQ(tries({.status = 408}), 5U);
  EXPECT_EQ(tries({.status = 429}), 5U);
  EXPECT_EQ(tries({.status = 0, .lost = lost()}), 5U);
  EXPECT_EQ(tries({.body = ""}), 5U);
}

TEST(HttpProvider, SaysHowLongToWaitIfThatIsTooLong) {
  const auto error = [](RecordedResponse played) {
    ProviderFixture bench(chat_codec(), {std::move(played)});
    return bench.ask().error().message;
  };
  EXPECT_EQ(error({.status = 429, .headers = {{"retry-after", "120"}}}),
            "model.test is limiting requests (429); try again in 2 min");
  EXPECT_EQ(error({.status = 503, .headers = {{"retry-after", "90"}}}),
            "model.test failed (503); try again in 90 s");
}

TEST(HttpProvider, SaysOnceThatAnAnswerEndedEarly) {
  ProviderFixture bench(chat_codec(),
                        {{.body = "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n"}});
  EXPECT_EQ(bench.ask().error().message, "model.test ended the answer early");
}

TEST(HttpProvider, SaysWhatToTryAfterAnEmptyAnswer) {
  ProviderFixture bench(chat_codec(), std::vector<RecordedResponse>(5));
  EXPECT_EQ(
      bench.ask().error().message,
      "model.test ended the answer early: it is empty; try again later, or check the base URL");
}

TEST(HttpProvider, NeverRetriesAfterTheFirstToken) {
  const std::string started = "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n";
  ProviderFixture bench(chat_codec(), {{.body = started, .lost = lost()}});
  EXPECT_EQ(bench.ask().error().code, Code::io);
  EXPECT_EQ(bench.sent().size(), 1U);
  EXPECT_THAT(bench.lines(), ElementsAre("started : ", "text: hi"));
}

TEST(HttpProvider, AConnectionLostAfterTheContentLosesNothing) {
  ProviderFixture bench(chat_codec(),
                        {{.body = kGood.substr(0, kGood.find("data: [DONE]")), .lost = lost()}});
  ASSERT_TRUE(bench.ask());
  EXPECT_THAT(bench.lines(), ElementsAre("started : ", "text: hi", "ended 0"));
}

TEST(HttpProvider, TheStatusIsUsedEvenIfTheBodyIsTruncated) {
  ProviderFixture bench(chat_codec(), {{.status = 401, .body = "{", .lost = lost()}});
  EXPECT_EQ(bench.ask().error().code, Code::unauthorized);
}

TEST(HttpProvider, StopsInAPause) {
  ProviderFixture bench(chat_codec(), {{.status = 500}});
  bench.stop_sleeping = true;
  EXPECT_EQ(bench.ask().error().code, Code::cancelled);
  EXPECT_EQ(bench.sent().size(), 1U);
}

TEST(HttpProvider, StreamsALongBodyAndRewindsIt) {
  std::vector<Message> history;
  for (int i = 0; i < 300; ++i) {
    history.push_back(make_message(i % 2 == 0 ? role::kUser : role::kAssistant,
                                   cat("message ", i, std::string(100, 'x'))));
  }
  ListMessages small(history, 10);
  ListMessages large(history, 2'000'000);
  Request whole{.model = "m", .system = "s", .messages = small};
  Request streamed{.model = "m", .system = "s", .messages = large};
  ProviderFixture bench(chat_codec(), {{.body = kGood}, {.status = 500}, {.body = kGood}});
  ASSERT_TRUE(bench.ask(whole));
  ASSERT_TRUE(bench.ask(streamed));
  ASSERT_EQ(bench.sent().size(), 3U);
  EXPECT_EQ(bench.sent()[0].source, nullptr);
  EXPECT_NE(bench.sent()[1].source, nullptr);
  EXPECT_EQ(bench.sent()[1].body, bench.sent()[0].body);
  EXPECT_EQ(bench.sent()[2].body, bench.sent()[0].body);
}

}  // namespace
}  // namespace reprise::provider
