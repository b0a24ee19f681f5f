#include "base/secret_name.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

TEST(SecretName, IsKnownInAnySpelling) {
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

TEST(SecretName, AWordAloneIsUnclear) {
  for (const std::string_view name : {"token", "Token", "key", "KEY", "_key"}) {
    EXPECT_EQ(secret_name(name), SecretName::unclear) << name;
  }
}

TEST(BearerValue, IsTheSchemeAndAToken) {
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

}  // namespace
}  // namespace reprise
