#pragma once

// Reads responses of chat/completions.

#include "provider/codec.h"

namespace reprise::provider {

// Reasoning is sent back to the server that it came from, in the same field. The signature of a
// thinking block contains both; reasoning_details, which have no plain text, are raw blocks.
std::string reasoning_signature(std::string_view field, std::string_view host);
inline constexpr std::string_view kReasoningContent = "reasoning_content";  // most servers
inline constexpr std::string_view kReasoning = "reasoning";                 // vLLM, OpenRouter
inline constexpr std::string_view kReasoningDetails = "reasoning_details";  // OpenRouter

// `out` must outlive it.
std::unique_ptr<ReplyReader> make_chat_reader(ReplyOut& out, std::string_view host);

}  // namespace reprise::provider
