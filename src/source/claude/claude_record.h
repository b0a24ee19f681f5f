#pragma once

// What a line of Claude Code means.

#include "source/transcript.h"

namespace reprise::source::claude {

// Whether no person wrote this user's line, and no model this assistant's.
bool is_injected_line(JsonView record);
// All of a user's content is results of tools.
bool is_result_line(JsonView record);
// The first text of a message's content; "" when it has none.
std::string text_of(JsonView content);
Usage usage_of(JsonView message, std::string_view request);
Message message_of(std::span<const Piece> pieces);

}  // namespace reprise::source::claude
