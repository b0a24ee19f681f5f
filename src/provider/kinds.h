#pragma once

// Built-in knowledge of models. It changes with time, so all of it is in kinds.cpp, with a date.
// The public part is provider_kinds() in reprise/provider.h.

#include <cstdint>
#include <string>
#include <string_view>

namespace reprise::provider {

// The maximum number of tokens in one answer of an Anthropic model, including thinking. The
// protocol requires a limit in each request, and a smaller one truncates the answer.
std::int64_t anthropic_max_tokens(std::string_view model);

// Whether this base URL ("" for the default) is OpenAI's, in any region.
bool is_openai(std::string_view base_url);

// "echo, anthropic, …", for error messages.
std::string kind_names();

}  // namespace reprise::provider
