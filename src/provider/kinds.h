#pragma once

// What is known of models without asking: it changes with time, so all of it stands in kinds.cpp,
// with its date. The public part is provider_kinds() in reprise/provider.h.

#include <cstdint>
#include <string>
#include <string_view>

namespace reprise::provider {

// The most tokens that a model of Anthropic's writes in one answer, its thinking included. The
// protocol wants a number in each request, and a smaller one cuts the answer.
std::int64_t anthropic_max_tokens(std::string_view model);

// Whether this base URL ("" for the default) is OpenAI's own, whatever the region.
bool is_openai(std::string_view base_url);

// "echo, anthropic, …", for an error.
std::string kind_names();

}  // namespace reprise::provider
