// Requests: their form in a dry run, and the user's additions.

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

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class FailingMessages final : public RequestMessages {
 public:
  Result<std::optional<Message>> next() override { return fail(Code::corrupt, "row 7 is bad"); }
  Result<> rewind() override { return {}; }
  std::int64_t bytes_estimate() const override { return bytes; }
  std::int64_t bytes = 0;
};

TEST(HttpProvider, ReturnsErrorsOfTheHistory) {
  for (const std::int64_t bytes : {0, 5'000'000}) {
    FailingMessages messages;
    messages.bytes = bytes;
    Request request{.model = "m", .messages = messages};
    ProviderFixture bench(chat_codec(), {{.body = kGood}});
    const auto outcome = bench.ask(request);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error(), (Error{Code::corrupt, "row 7 is bad", 0}));
  }
}

TEST(HttpProvider, DryRunShowsNoPasswordOfTheUrl) {
  ProviderFixture bench(chat_codec(), {}, {.base_url = "http://me:secret@model.test/v1"});
  ListMessages messages({make_message(role::kUser, "Hi")});
  Request request{.model = "m", .messages = messages};
  EXPECT_THAT(*bench.provider().dry_run(request),
              StartsWith("POST http://***@model.test/v1/chat/completions\n"));
}

TEST(HttpProvider, KeepsTheQueryOfTheBaseUrlAfterThePath) {
  ProviderFixture bench(chat_codec(), {{.body = kGood}},
                        {.base_url = "https://x.test/d/?api-version=1&api-key=s3cret"});
  ListMessages messages({make_message(role::kUser, "Hi")});
  Request request{.model = "m", .messages = messages};
  EXPECT_THAT(*bench.provider().dry_run(request),
              StartsWith("POST https://x.test/d/chat/completions?api-version=1&api-key=***\n"));
  ASSERT_TRUE(bench.ask());
  EXPECT_EQ(bench.sent().at(0).url,
            "https://x.test/d/chat/completions?api-version=1&api-key=s3cret");
}

TEST(HttpProvider, DryRunShowsTheRequestWithoutTheKey) {
  ProviderFixture bench(chat_codec(), {}, {.api_key = "sk-secret"});
  ListMessages messages({make_message(role::kUser, "Hi")});
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

TEST(HttpProvider, RejectsInvalidOptions) {
  const auto error = [](ProviderOptions options) {
    const auto made = make_http_provider(chat_codec(), std::move(options), {.transport = nullptr});
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

TEST(HttpProvider, SendsCustomHeaders) {
  ProviderFixture bench(make_anthropic(), {{.body = kGood}},
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

TEST(HttpProvider, SendsToAnotherPathWithTheKeyInAnotherHeader) {
  for (const auto& [auth, expected] : {std::pair("", "sk-1"), std::pair("x-api-key", "sk-1"),
                                       std::pair("bearer", "Bearer sk-1")}) {
    ProviderFixture bench(chat_codec(), {{.body = kGood}, {.body = R"({"data":[]})"}},
                          {.base_url = "http://a.test/llm/?v=1",
                           .api_key = "sk-1",
                           .path = "/talk",
                           .auth = auth,
                           .auth_header = "X-Gateway-Key"});
    ASSERT_TRUE(bench.ask());
    const http::Request& sent = bench.sent().at(0);
    EXPECT_EQ(sent.url, "http://a.test/llm/talk?v=1");
    EXPECT_EQ(http::find_header(sent.headers, "x-gateway-key"), expected);
    EXPECT_EQ(http::find_header(sent.headers, "authorization"), "");
    EXPECT_EQ(http::find_header(sent.headers, "x-api-key"), "");
    (void)bench.provider().models(std::chrono::seconds(1), {});
    EXPECT_EQ(bench.sent().at(1).url, "http://a.test/llm/models?v=1");
    EXPECT_EQ(http::find_header(bench.sent().at(1).headers, "x-gateway-key"), expected);
    ListMessages messages({make_message(role::kUser, "Hi")});
    Request request{.model = "m", .messages = messages};
    EXPECT_THAT(*bench.provider().dry_run(request), Not(HasSubstr("sk-1")));
  }
}

TEST(HttpProvider, ADryRunMasksWhatMayBeASecret) {
  ProviderFixture bench(make_openai_responses(), {},
                        {.api_key = "sk-1", .auth = "api-key", .headers = given_headers()});
  ListMessages messages({make_message(role::kUser, "Hi")});
  Request request{.model = "m", .messages = messages};
  const std::string shown = *bench.provider().dry_run(request);
  EXPECT_THAT(shown, HasSubstr("\napi-key: ***\n"));
  EXPECT_THAT(shown, HasSubstr("\nX-Tenant: ***\n"));
  EXPECT_THAT(shown, HasSubstr("\nanthropic-beta: b1\n"));
  EXPECT_THAT(shown, Not(HasSubstr("secret")));
  EXPECT_THAT(shown, Not(HasSubstr("Authorization")));
}

TEST(HttpProvider, ErrorsMaskEchoedSecrets) {
  for (const RecordedResponse& played :
       {RecordedResponse{.status = 400, .body = R"({"error":"no tenant secret-tenant, b1"})"},
        RecordedResponse{
            .body = "data: {\"error\":{\"message\":\"no secret-tenant\",\"code\":400}}\n\n"}}) {
    ProviderFixture bench(chat_codec(), {played}, {.headers = given_headers()});
    const auto outcome = bench.ask();
    ASSERT_FALSE(outcome);
    EXPECT_THAT(outcome.error().message, Not(HasSubstr("secret")));
    EXPECT_THAT(outcome.error().message, HasSubstr("***"));
  }
}

// All the secrets that options may hold.
ProviderOptions options_with_secrets() {
  return {.base_url = "http://some-user:pass%20word@model.test/v1?api-key=url-secret&v=1",
          .api_key = "the-api-key",
          .headers = given_headers(),
          .extra = json_of(R"({"a":{"api_key":"extra-\u0073ecret","pin":{"password":"p1"}},)"
                           R"("list":["Bearer token-12345"],"b":"shown-value"})")};
}

const std::vector<std::string> kAllSecrets = {
    "some-user",    "pass%20word", "pass word",
    "url-secret",   "the-api-key", "secret-tenant",
    "extra-secret", "token-12345", "c29tZS11c2VyOnBhc3Mgd29yZA=="};

TEST(HttpProvider, MasksAllSecretsOfTheOptions) {
  std::string all = "shown-value";
  for (const std::string& secret : kAllSecrets) {
    all += cat(" ", secret);
  }
  const std::string answer = cat(R"(data: {"id":")", all, R"(","choices":[{"delta":{"content":")",
                                 all, R"("},"finish_reason":"stop"}]})", "\n\ndata: [DONE]\n\n");
  ProviderFixture bench(
      chat_codec(),
      {{.body = answer},
       {.status = 400, .body = cat(R"({"error":")", all, R"("})")},
       {.body = cat(R"(data: {"error":{"message":")", all, R"(","code":400}})", "\n\n")},
       {.body = cat(R"({"data":[{"id":")", all, R"("}]})")}},
      options_with_secrets());
  ListMessages messages({make_message(role::kUser, "Hi")});
  Request request{.model = "m", .messages = messages};
  std::string shown = *bench.provider().dry_run(request);
  EXPECT_THAT(shown, HasSubstr(R"("a":{"api_key":"***","pin":{"password":"***"}},"list":["***"])"));
  ASSERT_TRUE(bench.ask());
  std::string answered;  // a model's words, of which only what is a key beyond doubt is masked
  for (const std::string& line : bench.lines()) {
    answered += cat("\n", line);
  }
  EXPECT_THAT(answered, HasSubstr("pass word url-secret the-api-key secret-tenant"));
  EXPECT_THAT(answered, Not(HasSubstr(kAllSecrets.back())));
  shown += cat("\n", bench.ask().error().message);
  shown += cat("\n", bench.ask().error().message);
  shown += cat("\n", bench.provider().models(std::chrono::seconds(1), {})->at(0).id);
  for (const std::string& secret : kAllSecrets) {
    EXPECT_THAT(shown, Not(HasSubstr(secret)));
  }
  for (std::size_t at = 0, times = 0; times < 4; ++times) {  // nothing else is masked
    at = shown.find("shown-value", at) + 1;
    EXPECT_GT(at, 0U) << times;
  }
}

TEST(HttpProvider, CachesAtTheProvidersOwnHostByDefault) {
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
    ProviderFixture bench(make_openai_responses(), {}, {.base_url = one.url});
    ListMessages messages({make_message(role::kUser, "Hi")});
    Request request{.model = "m",
                    .options = {.prompt_cache = one.set},
                    .conversation = "c",
                    .messages = messages};
    EXPECT_EQ(bench.provider().dry_run(request)->contains("prompt_cache_key"), one.expected)
        << one.url;
  }
}

TEST(HttpProvider, RejectsCustomHeadersThatBreakTheRequest) {
  const auto error = [](ProviderOptions options) {
    options.base_url = "http://x";
    const auto made = make_http_provider(chat_codec(), std::move(options), {.transport = nullptr});
    EXPECT_FALSE(made);
    return made ? Error{} : made.error();
  };
  EXPECT_EQ(error({.auth = "basic"}).message,
            "auth must be bearer, x-api-key or api-key, not 'basic'");
  EXPECT_EQ(error({.auth_header = "Host"}).message, "the header Host cannot be set");
  EXPECT_EQ(error({.auth_header = "X-A: 1\r\nX-B"}).message,
            "a header's name has invalid characters");
  for (const char* path :
       {"chat", "@evil.test/", "/a b", "/a?b=c", "/a#b", "/a\r\nb", "/\xC3\xA4"}) {
    EXPECT_THAT(error({.path = path}).message, StartsWith("path must begin with / and")) << path;
  }
  EXPECT_EQ(error({.headers = {{"X-A", "secret\r\nX-Evil: 1"}}}).message,
            "the value of the header X-A contains control characters");
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

TEST(OneLine, RemovesControlCharactersAndTheKey) {
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
    text += "end";
    const std::string line = one_line(text, "");
    EXPECT_LE(line.size(), kReasonBytesMax);
    EXPECT_TRUE(utf8::is_valid(line));
    EXPECT_TRUE(line.contains("ä ... ä")) << line;
    EXPECT_TRUE(line.ends_with("äend")) << line;
  }
}

}  // namespace
}  // namespace reprise::provider
