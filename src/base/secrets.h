#pragma once

// Detects members and headers that hold secrets, by their names and values, and removes their
// values from JSON.

#include <cstdint>
#include <string>
#include <string_view>

namespace reprise {

// unclear: a word that alone may also name other things ("key", "token").
enum class SecretName : std::uint8_t { no, unclear, yes };

// By the words of the name in any notation: "X-Api-Key", "api_key", "apiKey"; but not "max_tokens",
// "token_count" or "prompt_cache_key".
SecretName secret_name(std::string_view name);

// Exactly "Bearer " and what looks like a token.
bool is_bearer_value(std::string_view value);

// The JSON with "[redacted]" instead of the values of secret headers (recognised by name), as
// members ("cookie": …), as pairs (["cookie", …]) and in flat lists; of strings in other members
// with such names ("api_key": "…"); and of "Bearer …" anywhere. All other bytes are unchanged, even
// in text that is not JSON.
std::string redact_headers(std::string_view json);

}  // namespace reprise
