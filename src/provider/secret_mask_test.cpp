#include "provider/secret_mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "provider/codec.h"
#include "provider/testing/fixture.h"

namespace reprise::provider {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kKey = "sk-secret-1234";

TEST(SecretMask, MasksAKeyInAllTwoAndThreePartSplits) {
  const std::string text = cat("a sk-sec sk-", kKey, kKey, " s");
  for (std::size_t i = 0; i <= text.size(); ++i) {
    for (std::size_t j = i; j <= text.size(); ++j) {
      SecretMask mask({std::string(kKey)});
      std::string out = mask.feed(text.substr(0, i));
      out += mask.feed(text.substr(i, j - i));
      out += mask.feed(text.substr(j));
      out += mask.finish();
      ASSERT_EQ(out, "a sk-sec sk-****** s") << i << " " << j;
    }
  }
}

TEST(SecretMask, MasksTheLongestOfSeveralInAllTwoPartSplits) {
  const std::string text = "abcdefg abcdefghij bcdefgh abcdefghi";
  for (std::size_t i = 0; i <= text.size(); ++i) {
    SecretMask mask({"abcdefg", "abcdefghij", "bcdefgh"});
    std::string out = mask.feed(text.substr(0, i));
    out += mask.feed(text.substr(i));
    out += mask.finish();
    ASSERT_EQ(out, "*** *** *** ***hi") << i;
  }
}

TEST(SecretMask, MasksEscapedKeysOfJsonInAllSplits) {
  const std::string text =
      R"({"a":"\u0073k-\u0073ecret-1234","b":"sk-secret-123\u0034","c":"\\u0073k-secret-1234\n"})";
  for (std::size_t i = 0; i <= text.size(); ++i) {
    SecretMask mask({std::string(kKey)}, TextForm::json);
    std::string out = mask.feed(text.substr(0, i));
    out += mask.feed(text.substr(i));
    out += mask.finish();
    ASSERT_EQ(out, R"({"a":"***","b":"***","c":"\\u0073k-secret-1234\n"})") << i;
  }
  EXPECT_EQ(masked(R"("a/b\"c\\d" "a\/b\u0022c\u005cd" \)", {R"(a/b"c\d)"}, TextForm::json),
            R"("***" "***" \)");
}

TEST(SecretMask, HoldsBackOnlyPossibleKeys) {
  SecretMask mask({std::string(kKey)});
  EXPECT_EQ(mask.feed("words, "), "words, ");
  EXPECT_EQ(mask.feed("a ask"), "a a");
  EXPECT_EQ(mask.feed("ed"), "sked");
  EXPECT_EQ(mask.finish(), "");
}

TEST(MaskedSink, MasksTheSecretsOfHeadersInAnAnswer) {
  const std::string body =
      R"(data: {"id":"x","model":"m","choices":[{"delta":{"content":"you sent gateway-"}}]})"
      "\n\n"
      R"(data: {"choices":[{"delta":{"content":"9f8e7d6c5b4a, sk-token-12345 and beta-2026"}}]})"
      "\n\ndata: [DONE]\n\n";
  ProviderFixture bench(make_openai_chat("http://model.test/v1"), {{.body = body}},
                        {.headers = {{"X-Gateway", "gateway-9f8e7d6c5b4a"},
                                     {"Authorization", "Bearer sk-token-12345"},
                                     {"OpenAI-Beta", "beta-2026"}}});
  (void)bench.ask();
  std::string text;
  for (const std::string& line : bench.lines()) {
    text += line;
  }
  EXPECT_THAT(text, HasSubstr("you sent "));
  EXPECT_THAT(text, HasSubstr("***, *** and beta-2026"));
  EXPECT_THAT(text, Not(HasSubstr("token-12345")));
}

std::vector<std::string> answered(std::unique_ptr<Codec> codec, std::string body,
                                  std::string_view key = kKey,
                                  std::vector<http::Header> headers = {}) {
  ProviderFixture bench(std::move(codec),
                        {{.body = std::move(body), .headers = std::move(headers)}},
                        {.api_key = std::string(key)});
  EXPECT_TRUE(bench.ask());
  return bench.lines();
}

TEST(MaskedSink, MasksTheKeyInAllPartsOfAChatAnswer) {
  const std::string body =
      R"(data: {"id":"x-sk-secret-1234","model":"m-sk-secret-1234","choices":[{"delta":{"reasoning_content":"is sk-sec"}}]})"
      "\n\n"
      R"(data: {"choices":[{"delta":{"reasoning_content":"ret-1234?"}}]})"
      "\n\n"
      R"(data: {"choices":[{"delta":{"content":"yes: sk-secret"}}]})"
      "\n\n"
      R"(data: {"choices":[{"delta":{"content":"-12"}}]})"
      "\n\n"
      R"(data: {"choices":[{"delta":{"content":"34 and sk-"}}]})"
      "\n\n"
      R"(data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c-sk-secret-1234","function":{"name":"f","arguments":"{\"k\":\"sk-s"}}]}}]})"
      "\n\n"
      R"(data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"ecret-1234\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":1}})"
      "\n\ndata: [DONE]\n\n";
  const auto lines = answered(make_openai_chat("http://model.test/v1"), body, kKey,
                              {{"x-request-id", "req-sk-secret-1234"}});
  EXPECT_THAT(lines, testing::Each(Not(HasSubstr("secret"))));
  ASSERT_EQ(lines.size(), 9U);
  EXPECT_EQ(lines.back(), "a key is masked");
  EXPECT_THAT(std::vector(lines.begin(), lines.begin() + 6),
              ElementsAre("started x-***: m-***", "thinking: is ***?",
                          "signature: reasoning_content@model.test", "text: yes: *** and sk-",
                          "tool c-***: f", R"(input: {"k":"***"})"));
  EXPECT_THAT(lines[6], HasSubstr("***"));
}

TEST(MaskedSink, MasksMembersAndSaysSo) {
  const std::string body =
      R"(data: {"choices":[{"delta":{"content":"a"}}],"citations":["https://x/?k=sk-secret-1234"]})"
      "\n\ndata: [DONE]\n\n";
  const auto lines = answered(make_openai_chat("http://model.test/v1"), body);
  EXPECT_THAT(lines, testing::Contains(R"(members: {"citations":["https://x/?k=***"]})"));
  EXPECT_THAT(lines, testing::Contains("a key is masked"));
}

TEST(MaskedSink, MasksRawBlocksAndSignatures) {
  const std::string body =
      R"(data: {"type":"response.created","response":{"id":"r","model":"m"}})"
      "\n\n"
      R"(data: {"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","encrypted_content":"sk-secret-1234","summary":[]}})"
      "\n\n"
      R"(data: {"type":"response.completed","response":{"id":"r","status":"completed","output":[]}})"
      "\n\n";
  const auto lines = answered(make_openai_responses(), body);
  EXPECT_THAT(lines, testing::Contains(HasSubstr(R"("encrypted_content":"***")")));
}

TEST(MaskedSink, MasksEscapedKeysInRawBlocksAndInputs) {
  const std::string body =
      R"(data: {"choices":[{"delta":{"reasoning_details":[{"type":"t","text":"\u0073k-secret-1234"}]}}]})"
      "\n\n"
      R"(data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{\"k\":\"sk-\\u0073ec"}}]}}]})"
      "\n\n"
      R"(data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"ret-1234\"}"}}]},"finish_reason":"tool_calls"}]})"
      "\n\ndata: [DONE]\n\n";
  const auto lines = answered(make_openai_chat("http://model.test/v1"), body);
  EXPECT_THAT(lines, testing::Each(Not(HasSubstr("ecret"))));
  EXPECT_THAT(lines, testing::Contains(R"(input: {"k":"***"})"));
  EXPECT_THAT(lines, testing::Contains(HasSubstr(R"("text":"***")")));
}

TEST(MaskedSink, EmitsAHeldBackPrefixWhenTheAnswerIsTruncated) {
  ProviderFixture bench(
      make_openai_chat("http://model.test/v1"),
      {{.body = "data: {\"choices\":[{\"delta\":{\"content\":\"so sk-se\"}}]}\n\n"}},
      {.api_key = std::string(kKey)});
  EXPECT_FALSE(bench.ask());
  EXPECT_THAT(bench.lines(), testing::Contains("text: so sk-se"));
}

TEST(MaskedSink, DoesNotChangeWordsThatAreAKeyByChance) {
  for (const std::string key :
       {"ollama", "lm-studio", "not-needed", "sk-no-key-required", "sk-1234", "sk-anything",
        "sk-xxxxxxxx1234567890", "EMPTY", "secret-token", "aaaabbbbccccddddeeeeffff1111"}) {
    const std::string body =
        cat(R"(data: {"choices":[{"delta":{"content":"start )", key,
            R"( again","tool_calls":[{"index":0,"id":"c","function":{"name":"f",)",
            R"("arguments":"{\"k\":\")", key, R"(\"}"}}]},)", R"("finish_reason":"tool_calls"}]})",
            "\n\ndata: [DONE]\n\n");
    const auto lines = answered(make_openai_chat("http://model.test/v1"), body, key);
    EXPECT_THAT(lines, testing::Contains(cat("text: start ", key, " again")));
    EXPECT_THAT(lines, testing::Contains(cat(R"(input: {"k":")", key, R"("})")));
    EXPECT_THAT(lines, testing::Each(Not(HasSubstr("masked"))));
  }
}

TEST(MaskedSink, AKeyIsToldByItsPrefixOrByItsLength) {
  for (const std::string_view key :
       {"sk-ant-api03-Zx9", "gsk_1a2b3c4d5e", "AIzaSyA1b2C3d4", "q8Rz51LmNt07VwXy2KpB"}) {
    EXPECT_TRUE(is_telling(key)) << key;
  }
  for (const std::string_view key :
       {"", "sk-", "sk-local", "gateway-secret", "your-api-key-goes-here-1234567890"}) {
    EXPECT_FALSE(is_telling(key)) << key;
  }
}

}  // namespace
}  // namespace reprise::provider
