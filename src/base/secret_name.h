#pragma once

// Which members and headers hold secrets, by their names and values.

#include <cstdint>
#include <string_view>

namespace reprise {

// unclear: a word that alone names other things, too ("key", "token").
enum class SecretName : std::uint8_t { no, unclear, yes };

// By the words of a name in any spelling: "X-Api-Key", "api_key", "apiKey"; but not "max_tokens",
// "token_count" or "prompt_cache_key".
SecretName secret_name(std::string_view name);

// "Bearer " and what looks like a token, and nothing else.
bool is_bearer_value(std::string_view value);

}  // namespace reprise
