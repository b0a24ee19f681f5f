#include "store/redact.h"

#include <gtest/gtest.h>

#include <string>

namespace reprise::store {
namespace {

TEST(RedactHeaders, LeavesNoSecret) {
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

TEST(RedactHeaders, ChangesNothingElse) {
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
}  // namespace reprise::store
