#pragma once

// Detects members and headers that hold secrets, by their names and values.

#include <cstdint>
#include <string_view>

namespace reprise {

// unclear: a word that alone may also name other things ("key", "token").
enum class SecretName : std::uint8_t { no, unclear, yes };

// By the words of the name in any notation: "X-Api-Key", "api_key", "apiKey"; but not "max_tokens",
// "token_count" or "prompt_cache_key".
SecretName secret_name(std::string_view name);

// Exactly "Bearer " and what looks like a token.
bool is_bearer_value(std::string_view value);

}  // namespace reprise
