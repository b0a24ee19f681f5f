#pragma once

// What an entry of pi means.

#include "source/transcript.h"

namespace reprise::source::pi {

// The text of a message's content, a string or blocks.
std::string text_of(JsonView content);
// The messages that a model or a person did not write: of hooks, summaries, the person's commands.
bool is_injected_entry(JsonView entry);
// Whether the entry is a message, of whatever kind.
bool is_message_entry(JsonView entry);
Usage usage_of(JsonView message, std::string_view entry_id);
Message message_of(JsonView entry, bool has_usage);

}  // namespace reprise::source::pi
