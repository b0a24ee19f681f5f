#include "provider/http_provider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "base/utf8.h"
#include "provider/codec.h"
#include "provider/fixture_for_test.h"
#include "provider/refusal.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/provider.h"

namespace reprise::provider {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::unique_ptr<Codec> chat() {
  return make_openai_chat("http://model.test/v1");
}

const std::string kGood =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},"
    "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

Error lost() {
  return {Code::io, "the connection to model.test was lost", ECONNRESET};
}

// The texts of an answer's deltas when it comes in two parts, the first of `first_bytes`.
std::vector<std::string> deltas(const std::string& body, std::size_t first_bytes) {
  Bench bench(chat(), {{.body = body, .cuts = {first_bytes}}});
  ListMessages messages({said(role::kUser, "Hi")});
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

TEST(HttpProvider, HandsOnAtOnceAndAsOneWhatCameTogether) {
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
       "model.test refused the key (401): Incorrect key ***; check OPENAI_API_KEY and what it may "
       "do"},
      {403, "", Code::unauthorized,
       "model.test refused the key (403); check OPENAI_API_KEY and what it may do"},
      {400, R"({"error":"bad\u001b[2J\nthing"})", Code::invalid_argument,
       "model.test refused the request (400): bad [2J thing"},
      {404, R"({"detail":"no such model"})", Code::invalid_argument,
       "model.test refused the request (404): no such model; `reprise models` lists those there "
       "are"},
      {413, "too big", Code::too_long,
       "model.test refused the length of the request (413): too big"},
      {422, R"([{"error":{"message":"listed"}}])", Code::invalid_argument,
       "model.test refused the request (422): listed"},
      {429, R"({"message":"slow down"})", Code::rate_limited,
       "model.test asks to wait (429): slow down; try again later"},
      {429, R"({"error":{"code":"insufficient_quota","message":"pay"}})", Code::rate_limited,
       "model.test asks to wait (429): pay; check the account's plan"},
      {408, "", Code::timeout, "model.test gave up (408); try again"},
      {500, "<html>oops</html>", Code::io, "model.test failed (500); try again later"},
      {529, R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})",
       Code::io, "model.test failed (529): Overloaded; try again later"},
  };
  for (const Case& one : cases) {
    Bench bench(chat(), {{.status = one.status, .body = one.body}},
                {.api_key = "sk-secret", .retries_max = 0});
    const auto asked = bench.ask();
    ASSERT_FALSE(asked) << one.status;
    EXPECT_EQ(asked.error().code, one.code) << one.status;
    EXPECT_EQ(asked.error().message, one.message);
    EXPECT_THAT(bench.lines(), IsEmpty());
  }
}

// As the servers answer, shortened where they go on.
TEST(HttpProvider, TellsWhatIsRefused) {
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
    Bench bench(chat(), {{.status = one.status, .body = one.body}});
    const auto asked = bench.ask();
    EXPECT_EQ(bench.sent().size(), 1U) << "another try cannot help: " << one.body;
    return asked ? Code::io : asked.error().code;
  };
  for (const Case& one : too_long) {
    EXPECT_EQ(code_of(one), Code::too_long) << one.body;
  }
  for (const Case& one : no_images) {
    EXPECT_EQ(code_of(one), Code::unsupported) << one.body;
  }
  Bench streamed(chat(), {{.body = cat("data: ", too_long[0].body, "\n\n")}});
  EXPECT_EQ(streamed.ask().error().code, Code::too_long);
  EXPECT_EQ(streamed.sent().size(), 1U);
}

TEST(HttpProvider, RedirectsAreSaidAndNotFollowed) {
  Bench bench(chat(), {{.status = 307, .headers = {{"Location", "https://u:p@evil.test/x"}}}});
  const auto asked = bench.ask();
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().message,
            "model.test redirects (307) to evil.test; set the base URL to where the provider "
            "answers");
  EXPECT_EQ(bench.sent().size(), 1U);
}

TEST(HttpProvider, WithoutAKeySaysWhereItIsLookedFor) {
  Bench bench(chat(), {{.status = 401}});
  EXPECT_EQ(bench.ask().error().message, "model.test refused the key (401); set OPENAI_API_KEY");
  Bench advised(chat(), {{.status = 401}}, {.key_advice = "give it one"});
  EXPECT_EQ(advised.ask().error().message, "model.test refused the key (401); give it one");
}

TEST(HttpProvider, TriesAgainWithGrowingPauses) {
  Bench bench(chat(), {{.status = 500},
                       {.status = 0, .lost = lost()},
                       {.status = 429, .headers = {{"Retry-After", "7"}}},
                       {.body = kGood}});
  ASSERT_TRUE(bench.ask());
  EXPECT_THAT(bench.pauses, ElementsAre(500, 1000, 7000));
  EXPECT_THAT(bench.lines(),
              ElementsAre("retry after 500: model.test failed (500); try again later",
                          "retry after 1000: the connection to model.test was lost",
                          "retry after 7000: model.test asks to wait (429); try again later",
                          "started : ", "text: hi", "ended 0"));
  EXPECT_EQ(bench.sent().at(0).body, bench.sent().at(3).body);
}

TEST(HttpProvider, GivesUpAfterTheLastRetry) {
  Bench bench(chat(), {{.status = 503}}, {.retries_max = 2});
  EXPECT_EQ(bench.ask().error().code, Code::io);
  EXPECT_EQ(bench.sent().size(), 3U);
}

TEST(HttpProvider, TriesAgainOnlyWhereItHelps) {
  const auto tries = [](Played played) {
    Bench bench(chat(), {std::move(played)});
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
  EXPECT_EQ(tries({.status = 408}), 4U);
  EXPECT_EQ(tries({.status = 429}), 4U);
  EXPECT_EQ(tries({.status = 0, .lost = lost()}), 4U);
  EXPECT_EQ(tries({.body = ""}), 4U);
}

TEST(HttpProvider, NeverTriesAgainAfterTheFirstToken) {
  const std::string begun = "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n";
  Bench bench(chat(), {{.body = begun, .lost = lost()}});
  EXPECT_EQ(bench.ask().error().code, Code::io);
  EXPECT_EQ(bench.sent().size(), 1U);
  EXPECT_THAT(bench.lines(), ElementsAre("started : ", "text: hi"));
}

TEST(HttpProvider, AConnectionLostAfterTheLastWordLosesNothing) {
  Bench bench(chat(), {{.body = kGood.substr(0, kGood.find("data: [DONE]")), .lost = lost()}});
  ASSERT_TRUE(bench.ask());
  EXPECT_THAT(bench.lines(), ElementsAre("started : ", "text: hi", "ended 0"));
}

TEST(HttpProvider, TheStatusCountsThoughItsBodyWasCut) {
  Bench bench(chat(), {{.status = 401, .body = "{", .lost = lost()}});
  EXPECT_EQ(bench.ask().error().code, Code::unauthorized);
}

TEST(HttpProvider, StopsInAPause) {
  Bench bench(chat(), {{.status = 500}});
  bench.stop_sleeping = true;
  EXPECT_EQ(bench.ask().error().code, Code::cancelled);
  EXPECT_EQ(bench.sent().size(), 1U);
}

TEST(HttpProvider, StreamsALongBodyAndStartsItAgain) {
  std::vector<Message> history;
  for (int i = 0; i < 300; ++i) {
    history.push_back(said(i % 2 == 0 ? role::kUser : role::kAssistant,
                           cat("message ", i, std::string(100, 'x'))));
  }
  ListMessages small(history, 10);
  ListMessages large(history, 2'000'000);
  Request whole{.model = "m", .system = "s", .messages = small};
  Request streamed{.model = "m", .system = "s", .messages = large};
  Bench bench(chat(), {{.body = kGood}, {.status = 500}, {.body = kGood}});
  ASSERT_TRUE(bench.ask(whole));
  ASSERT_TRUE(bench.ask(streamed));
  ASSERT_EQ(bench.sent().size(), 3U);
  EXPECT_EQ(bench.sent()[0].source, nullptr);
  EXPECT_NE(bench.sent()[1].source, nullptr);
  EXPECT_EQ(bench.sent()[1].body, bench.sent()[0].body);
  EXPECT_EQ(bench.sent()[2].body, bench.sent()[0].body);
}

class FailingMessages final : public RequestMessages {
 public:
  Result<std::optional<Message>> next() override { return fail(Code::corrupt, "row 7 is bad"); }
  Result<> rewind() override { return {}; }
  std::int64_t bytes_estimate() const override { return bytes; }
  std::int64_t bytes = 0;
};

TEST(HttpProvider, AHistoryThatCannotBeReadIsThatError) {
  for (const std::int64_t bytes : {0, 5'000'000}) {
    FailingMessages messages;
    messages.bytes = bytes;
    Request request{.model = "m", .messages = messages};
    Bench bench(chat(), {{.body = kGood}});
    const auto asked = bench.ask(request);
    ASSERT_FALSE(asked);
    EXPECT_EQ(asked.error(), (Error{Code::corrupt, "row 7 is bad", 0}));
  }
}

TEST(HttpProvider, DryRunShowsNoPasswordOfTheUrl) {
  Bench bench(chat(), {}, {.base_url = "http://me:secret@model.test/v1"});
  ListMessages messages({said(role::kUser, "Hi")});
  Request request{.model = "m", .messages = messages};
  EXPECT_THAT(*bench.provider().dry_run(request),
              StartsWith("POST http://***@model.test/v1/chat/completions\n"));
}

TEST(HttpProvider, AQueryOfTheBaseUrlStaysBehindThePath) {
  Bench bench(chat(), {{.body = kGood}},
              {.base_url = "https://x.test/d/?api-version=1&api-key=s3cret"});
  ListMessages messages({said(role::kUser, "Hi")});
  Request request{.model = "m", .messages = messages};
  EXPECT_THAT(*bench.provider().dry_run(request),
              StartsWith("POST https://x.test/d/chat/completions?api-version=1&api-key=***\n"));
  ASSERT_TRUE(bench.ask());
  EXPECT_EQ(bench.sent().at(0).url,
            "https://x.test/d/chat/completions?api-version=1&api-key=s3cret");
}

TEST(HttpProvider, DryRunShowsTheRequestWithoutTheKey) {
  Bench bench(chat(), {}, {.api_key = "sk-secret"});
  ListMessages messages({said(role::kUser, "Hi")});
  Request request{.model = "m", .stream = false, .messages = messages};
  EXPECT_EQ(*bench.provider().dry_run(request),
            "POST http://model.test/v1/chat/completions\n"
            "Authorization: Bearer ***\n"
            "User-Agent: reprise\n"
            "Content-Type: application/json\n"
            "Accept: application/json\n"
            "\n"
            R"({"model":"m","stream":false,"messages":[{"role":"user","content":"Hi"}]})"
            "\n");
  EXPECT_THAT(bench.sent(), IsEmpty());
}

TEST(HttpProvider, RefusesWhatCannotBeSent) {
  const auto error = [](ProviderOptions options) {
    const auto made = make_http_provider(chat(), std::move(options), {.transport = nullptr});
    EXPECT_FALSE(made);
    return made ? Error{} : made.error();
  };
  EXPECT_EQ(error({.base_url = "ftp://x"}).code, Code::invalid_argument);
  EXPECT_EQ(error({.base_url = "model.test/v1"}).code, Code::invalid_argument);
  EXPECT_EQ(error({.base_url = "http://a b"}).code, Code::invalid_argument);
  const Error key = error({.base_url = "http://x", .api_key = "sk-secret\r\nX-Evil: 1"});
  EXPECT_EQ(key.code, Code::invalid_argument);
  EXPECT_THAT(key.message, Not(HasSubstr("secret")));
}

std::vector<std::pair<std::string, std::string>> given_headers() {
  return {{"X-Tenant", "secret-tenant"}, {"anthropic-beta", "b1"}, {"user-agent", "mine"}};
}

TEST(HttpProvider, SendsWhatAPersonAdds) {
  Bench bench(make_anthropic(), {{.body = kGood}},
              {.base_url = "http://a.test",
               .api_key = "sk-1",
               .auth = "bearer",
               .headers = given_headers(),
               .extra = json_of(R"({"metadata":{"user_id":"u"}})")});
  (void)bench.ask();
  const http::Request& sent = bench.sent().at(0);
  EXPECT_EQ(http::find_header(sent.headers, "authorization"), "Bearer sk-1");
  EXPECT_EQ(http::find_header(sent.headers, "x-api-key"), "");
  EXPECT_EQ(http::find_header(sent.headers, "x-tenant"), "secret-tenant");
  EXPECT_EQ(http::find_header(sent.headers, "User-Agent"), "mine");
  EXPECT_THAT(sent.body, HasSubstr(R"("metadata":{"user_id":"u"})"));
}

TEST(HttpProvider, ADryRunMasksWhatMayBeASecret) {
  Bench bench(make_openai_responses(), {},
              {.api_key = "sk-1", .auth = "api-key", .headers = given_headers()});
  ListMessages messages({said(role::kUser, "Hi")});
  Request request{.model = "m", .messages = messages};
  const std::string shown = *bench.provider().dry_run(request);
  EXPECT_THAT(shown, HasSubstr("\napi-key: ***\n"));
  EXPECT_THAT(shown, HasSubstr("\nX-Tenant: ***\n"));
  EXPECT_THAT(shown, HasSubstr("\nanthropic-beta: b1\n"));
  EXPECT_THAT(shown, Not(HasSubstr("secret")));
  EXPECT_THAT(shown, Not(HasSubstr("Authorization")));
}

TEST(HttpProvider, ErrorsMaskWhatAServerRepeats) {
  for (const Played& played :
       {Played{.status = 400, .body = R"({"error":"no tenant secret-tenant, b1"})"},
        Played{.body = "data: {\"error\":{\"message\":\"no secret-tenant\",\"code\":400}}\n\n"}}) {
    Bench bench(chat(), {played}, {.headers = given_headers()});
    const auto asked = bench.ask();
    ASSERT_FALSE(asked);
    EXPECT_THAT(asked.error().message, Not(HasSubstr("secret")));
    EXPECT_THAT(asked.error().message, HasSubstr("***"));
  }
}

TEST(HttpProvider, CachesAtTheProvidersOwnHostUnlessSaidOtherwise) {
  struct Case {
    const char* url;
    std::optional<bool> set;
    bool expected;
  };
  for (const Case& one : {Case{"https://api.openai.com/v1", std::nullopt, true},
                          {"https://API.openai.com", std::nullopt, true},
                          {"https://api.openai.com", false, false},
                          {"https://api.openai.com.evil.test", std::nullopt, false},
                          {"http://127.0.0.1:1", std::nullopt, false},
                          {"http://127.0.0.1:1", true, true}}) {
    Bench bench(make_openai_responses(), {}, {.base_url = one.url});
    ListMessages messages({said(role::kUser, "Hi")});
    Request request{.model = "m",
                    .options = {.prompt_cache = one.set},
                    .conversation = "c",
                    .messages = messages};
    EXPECT_EQ(bench.provider().dry_run(request)->contains("prompt_cache_key"), one.expected)
        << one.url;
  }
}

TEST(HttpProvider, RefusesAdditionsThatBreakTheRequest) {
  const auto error = [](ProviderOptions options) {
    options.base_url = "http://x";
    const auto made = make_http_provider(chat(), std::move(options), {.transport = nullptr});
    EXPECT_FALSE(made);
    return made ? Error{} : made.error();
  };
  EXPECT_EQ(error({.auth = "basic"}).message,
            "auth must be bearer, x-api-key or api-key, not 'basic'");
  EXPECT_EQ(error({.headers = {{"X-A", "secret\r\nX-Evil: 1"}}}).message,
            "the value of the header X-A has control characters in it");
  EXPECT_EQ(error({.headers = {{"X-A: 1\r\nX-B", "b"}}}).code, Code::invalid_argument);
  EXPECT_EQ(error({.headers = {{"", "b"}}}).code, Code::invalid_argument);
  EXPECT_EQ(error({.headers = {{"Content-Length", "0"}}}).message,
            "the header Content-Length cannot be set");
  for (const char* name : {"messages", "input", "stream"}) {
    EXPECT_EQ(error({.extra = json_of(cat("{\"", name, "\":1}"))}).message,
              cat("extra cannot set ", name));
  }
  EXPECT_EQ(error({.extra = json_of("[]")}).code, Code::invalid_argument);
}

TEST(OneLine, ShowsNothingThatMovesTheCursorOrTheKey) {
  EXPECT_EQ(one_line(" a\x1b[31mb\xC2\x9B"
                     "c\xE2\x80\xAE"
                     "d\xE2\x80\xA8"
                     "e\n",
                     ""),
            "a [31mb c d e");
  EXPECT_EQ(one_line("key sk-abcsk-abc!", "sk-abc"), "key ******!");
  EXPECT_EQ(one_line("bad \xff byte.", ""), "bad \uFFFD byte");
  for (std::size_t pad = 0; pad < 4; ++pad) {
    std::string text(pad, 'x');
    for (int i = 0; i < 200; ++i) {
      text += "ä";
    }
    const std::string line = one_line(text, "");
    EXPECT_LE(line.size(), kReasonBytesMax);
    EXPECT_TRUE(utf8::is_valid(line));
    EXPECT_TRUE(line.ends_with("ä...")) << line;
  }
}

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

// What is said of an answer that has no end, with a limit of 4000 bytes.
Result<> ask_endless(const std::string& body, std::vector<std::string>* lines = nullptr) {
  Bench bench(chat(), {{.body = body, .cuts = {1000, 3000, 5000, 8000}}},
              {.answer_bytes_max = 4000});
  auto asked = bench.ask();
  EXPECT_EQ(bench.sent().size(), 1U);  // another try would be the same
  if (lines != nullptr) {
    *lines = bench.lines();
  }
  return asked;
}

TEST(HttpProvider, EndsAnAnswerThatIsTooLarge) {
  const std::string delta = chunk_of(R"({"content":"0123456789"})");
  std::vector<std::string> lines;
  const auto asked = ask_endless(repeated(delta, 1000), &lines);
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().code, Code::io);
  EXPECT_EQ(asked.error().message,
            "model.test sent more than 4000 bytes in one answer; max_answer_bytes is the limit");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1].size(), std::string_view("text: ").size() + 4010);
}

TEST(HttpProvider, CountsThinkingInputsSmallBlocksAndWhatSaysNothing) {
  const std::string floods[] = {
      repeated(chunk_of(R"({"reasoning_content":"0123456789"})"), 1000),
      cat(chunk_of(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f"}}]})"),
          repeated(chunk_of(R"({"tool_calls":[{"index":0,"function":{"arguments":"01234567"}}]})"),
                   1000)),
      // Text that waits for the end of a call.
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
    const auto asked = ask_endless(flood);
    ASSERT_FALSE(asked) << flood.substr(0, 80);
    EXPECT_THAT(asked.error().message, HasSubstr("sent more than 4000 bytes"))
        << flood.substr(0, 80);
  }
}

TEST(HttpProvider, WaitsThroughCommentsThatComeBetweenTheWords) {
  const std::string quiet = repeated(": a comment that says nothing\n", 100);
  const auto asked = ask_endless(cat(quiet, chunk_of(R"({"content":"a"})"), quiet, kGood));
  EXPECT_TRUE(asked);
}

TEST(HttpProvider, BoundsTheToolCallsOfAnAnswer) {
  std::string body;
  for (std::size_t i = 0; i <= kAnswerCallsMax; ++i) {
    body += chunk_of(cat(R"({"tool_calls":[{"index":)", i, R"(,"id":"c)", i,
                         R"(","function":{"name":"f","arguments":"{}"}}]})"));
  }
  Bench bench(chat(), {{.body = body}});
  const auto asked = bench.ask();
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().message, "model.test made more than 4096 tool calls in one answer");
}

TEST(HttpProvider, ListsModelsPageByPage) {
  Bench bench(make_anthropic(),
              {{.body = R"({"data":[{"id":"a","display_name":"A"},{"type":"no id"}],)"
                        R"("has_more":true,"last_id":"a"})"},
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
  EXPECT_EQ(bench.sent().at(1).url, "http://model.test/v1/models?after_id=a");
}

TEST(HttpProvider, SaysWhyModelsAreNotListed) {
  for (const auto& [played, code] :
       {std::pair(Played{.status = 404}, Code::unsupported),
        std::pair(Played{.body = "<html>"}, Code::unsupported),
        std::pair(Played{.status = 401, .body = R"({"error":"no"})"}, Code::unauthorized)}) {
    Bench bench(make_openai_responses(), {played});
    const auto models = bench.provider().models(std::chrono::seconds(5), {});
    ASSERT_FALSE(models);
    EXPECT_EQ(models.error().code, code) << models.error().message;
  }
}

TEST(HttpProvider, NamesTheModelsNearestToOneThatIsGone) {
  Bench bench(make_openai_responses(),
              {{.status = 404, .body = R"({"error":{"message":"gone","code":"model_not_found"}})"},
               {.body = R"({"data":[{"id":"whisper-large"},{"id":"m2"},{"id":"m"}]})"}});
  const auto asked = bench.ask();
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().message,
            "model.test refused the request (404): gone; `reprise models` lists those there are, "
            "such as m");
}

TEST(HttpProvider, LeavesOutAParameterThatIsRefused) {
  const std::string refusal =
      R"({"error":{"message":"no","param":"temperature","code":"unsupported_parameter"}})";
  Bench bench(make_openai_chat("http://model.test/v1"),
              {{.status = 400, .body = refusal},
               {.status = 400, .body = refusal},
               {.status = 400, .body = R"({"error":"else"})"}},
              {.retries_max = 0});
  ListMessages messages({said(role::kUser, "Hi")});
  Request request{.model = "m", .temperature = 0.5, .messages = messages};
  const auto asked = bench.ask(request);
  ASSERT_FALSE(asked);
  ASSERT_EQ(bench.sent().size(), 2U) << "once, though it is refused again";
  EXPECT_THAT(bench.sent().at(0).body, HasSubstr("temperature"));
  EXPECT_THAT(bench.sent().at(1).body, Not(HasSubstr("temperature")));
  EXPECT_EQ(bench.lines(), std::vector<std::string>{
                               "without temperature: model.test refused the request (400): no"});
  // What follows does without at once, and another model is asked as before.
  (void)bench.ask(request);
  EXPECT_THAT(bench.sent().at(2).body, Not(HasSubstr("temperature")));
  request.model = "other";
  (void)bench.ask(request);
  EXPECT_THAT(bench.sent().at(3).body, HasSubstr("temperature"));
}

}  // namespace
}  // namespace reprise::provider
