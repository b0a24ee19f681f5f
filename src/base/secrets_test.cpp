#include "base/secrets.h"

#include <gtest/gtest.h>

#include <string>

namespace reprise {
namespace {

TEST(SecretName, IsRecognizedInAnySpelling) {
  for (const std::string_view name : {"Authorization",
                                      "proxy-authorization",
                                      "AUTHORIZATION",
                                      "X-Authorization-Key",
                                      "cookie",
                                      "Set-Cookie",
                                      "set_cookie",
                                      "x-api-key",
                                      "X_API_KEY",
                                      "apiKey",
                                      "api_key",
                                      "OpenAI-Api-Key",
                                      "x-goog-api-key",
                                      "x-api-key-1",
                                      "apikey",
                                      "Ocp-Apim-Subscription-Key",
                                      "secret_key",
                                      "accessKey",
                                      "password",
                                      "db_password",
                                      "password2x",
                                      "PASSWD",
                                      "passphrase",
                                      "client_secret",
                                      "aws-secret-access-key",
                                      "credentials",
                                      "access_token",
                                      "refreshToken",
                                      "X-Auth-Token",
                                      "x-token-value",
                                      "id_token",
                                      "x-amz-security-token",
                                      "GITHUB_TOKEN"}) {
    EXPECT_EQ(secret_name(name) == SecretName::yes, name != "password2x") << name;
  }
}

TEST(SecretName, ExcludesNamesOfModelsAndLists) {
  for (const std::string_view name : {"max_tokens",
                                      "max_completion_tokens",
                                      "maxTokens",
                                      "token_count",
                                      "tokenCount",
                                      "prompt_tokens",
                                      "completion_tokens_details",
                                      "input_tokens",
                                      "cached_tokens",
                                      "thinking_token_budget",
                                      "x-ratelimit-limit-tokens",
                                      "x-ratelimit-remaining-tokens",
                                      "token_type",
                                      "token_usage",
                                      "tokens",
                                      "tokenizer",
                                      "total_token_count",
                                      "eos_token",
                                      "stop_token",
                                      "next_page_token",
                                      "input_token",
                                      "cost_per_token",
                                      "prompt_cache_key",
                                      "idempotency-key",
                                      "sort_key",
                                      "public_key",
                                      "keys",
                                      "api_key_id",
                                      "keyboard",
                                      "monkey",
                                      "keyword",
                                      "author",
                                      "authority",
                                      "signature",
                                      "cookie_count",
                                      "secretary",
                                      "code",
                                      "access_token_expires",
                                      "",
                                      "-",
                                      "content"}) {
    EXPECT_EQ(secret_name(name), SecretName::no) << name;
  }
}

TEST(SecretName, SingleWordsAreUnclear) {
  for (const std::string_view name : {"token", "Token", "key", "KEY", "_key"}) {
    EXPECT_EQ(secret_name(name), SecretName::unclear) << name;
  }
}

TEST(BearerValue, ConsistsOfTheSchemeAndAToken) {
  for (const std::string_view value :
       {"Bearer sk-0123456789", "bearer eyJhbGciOi.J9.e30_-", "BEARER  abcdefg1"}) {
    EXPECT_TRUE(is_bearer_value(value)) << value;
  }
  for (const std::string_view value :
       {"Bearer", "Bearer ", "Bearer tokens", "bearer authentication", "Bearer of bad news 1",
        "the Bearer sk-0123456789", "Bearer sk-0 is wrong", "Bearer sk-1", "bearer"}) {
    EXPECT_FALSE(is_bearer_value(value)) << value;
  }
}

TEST(RedactHeaders, RemovesSecrets) {
  EXPECT_EQ(redact_headers(R"({
  "headers": {"Set-Cookie": ["a=1", {"b": 2}], "x-api-key":"k", "date": "today", "n": 1.0},
  "request": {"AUTHORIZATION" : "Bearer t", "cookie": null, "OpenAI-Api-Key": 5},
  "pairs": [["set-cookie", "s"], ["date", "d"]]
})"),
            R"({
  "headers": {"Set-Cookie": "[redacted]", "x-api-key":"[redacted]", "date": "today", "n": 1.0},
  "request": {"AUTHORIZATION" : "[redacted]", "cookie": "[redacted]", "OpenAI-Api-Key": "[redacted]"},
  "pairs": [["set-cookie", "[redacted]"], ["date", "d"]]
})");
}

// Values that are themselves names of secret headers do not hide the headers after them.
TEST(RedactHeaders, IsNotMisledByValues) {
  EXPECT_EQ(redact_headers(R"({"vary":"Cookie","set-cookie":"s","allow" : "authorization","a":1})"),
            R"({"vary":"Cookie","set-cookie":"[redacted]","allow" : "authorization","a":1})");
  EXPECT_EQ(redact_headers(R"(["vary","cookie","set-cookie","s","date","d"])"),
            R"(["vary","cookie","[redacted]","[redacted]","date","d"])");
  EXPECT_EQ(redact_headers(R"(["cookie",["authorization","a"],"x"])"),
            R"(["cookie","[redacted]","x"])");
}

TEST(RedactHeaders, PreservesOtherBytes) {
  for (const std::string text :
       {"", "{}", R"({"text":"the cookie: authorization","cookies":1,"api-keys":{"a":"b"}})",
        "no JSON \" at all", R"({"a":"\"cookie\": 1"})", "\xFF\"\xFE\""}) {
    EXPECT_EQ(redact_headers(text), text);
  }
}

TEST(RedactHeaders, RecognizesSecretsByTheWordsOfTheirNames) {
  EXPECT_EQ(redact_headers(R"({"X_API_KEY":"a","apiKey":"b","x-auth-token":["c"],"password":"d",)"
                           R"("client_secret" : "e","X-Amz-Security-Token":"f","note":"g"})"),
            R"({"X_API_KEY":"[redacted]","apiKey":"[redacted]","x-auth-token":"[redacted]",)"
            R"("password":"[redacted]","client_secret" : "[redacted]",)"
            R"("X-Amz-Security-Token":"[redacted]","note":"g"})");
  EXPECT_EQ(redact_headers(R"(["X-Goog-Api-Key","k","date","d"])"),
            R"(["X-Goog-Api-Key","[redacted]","date","d"])");
}

TEST(RedactHeaders, RecognizesBearerTokensAnywhere) {
  EXPECT_EQ(redact_headers(R"({"sent":"Bearer sk-0123456789","list":["bearer sk-0123456789",1]})"),
            R"({"sent":"[redacted]","list":["[redacted]",1]})");
  EXPECT_EQ(redact_headers(R"(["cookie","Bearer sk-0123456789","authorization","x"])"),
            R"(["cookie","[redacted]","authorization","[redacted]"])");
}

TEST(RedactHeaders, KeepsCountsAndSchemas) {
  for (const std::string text :
       {R"({"max_tokens":5,"token_count":"5","usage":{"prompt_tokens":1,"total_tokens":2}})",
        R"({"x-ratelimit-limit-tokens":"5","x-ratelimit-remaining-tokens":["4"]})",
        R"({"logprobs":[{"token":"Hello","logprob":-0.1}],"prompt_cache_key":"s1"})",
        R"({"properties":{"password":{"type":"string"}},"required":["password","email"]})",
        R"({"token_type":"bearer","text":"Bearer tokens are sent in headers"})",
        R"({"key":"value","password":null,"api_key":true})"}) {
    EXPECT_EQ(redact_headers(text), text);
  }
}

TEST(RedactHeaders, RemovesTheRemainderIfTheValueHasNoEnd) {
  EXPECT_EQ(redact_headers(R"({"a":1,"cookie":"cut he)"), R"({"a":1,"cookie":"[redacted]")");
  EXPECT_EQ(redact_headers("{\"cookie\":\"a\nb\",\"x\":1}"), R"({"cookie":"[redacted]","x":1})");
}

}  // namespace

}  // namespace reprise
