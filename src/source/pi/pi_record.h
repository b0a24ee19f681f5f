#pragma once

// The meaning of an entry of pi.

#include "source/transcript.h"

namespace reprise::source::pi {

// The text of a message's content, which is a string or blocks.
std::string text_of(JsonView content);
// Whether neither model nor user wrote the message: hooks, summaries, the user's commands.
bool is_injected_entry(JsonView entry);
// Whether the entry is a message of any kind.
bool is_message_entry(JsonView entry);
// Of an answer. The request's id is that of the response, else that of the entry, else its time.
Usage usage_of(JsonView entry);
Message message_of(JsonView entry, bool has_usage);

}  // namespace reprise::source::pi
