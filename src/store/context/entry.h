#pragma once

// One entry of a context file's conversation: {"role","content","timestamp"[,"usage"]
// [,"incomplete"]}. What these members cannot represent is in the entry's member "reprise".

#include "base/json_scan.h"
#include "reprise/message.h"

namespace reprise::store::context {

// Programs that read these files expect prompts, questions and answers as text, with one question
// and one answer per turn. So tool calls, their results, and messages without text have no entry of
// their own: they are in the member "reprise" of the next entry, as "before", or in that of the
// file, as "after", until there is a next entry.
bool has_entry(const Message& message);

// nullopt for JSON that is not a message: not an object, or without a role and a text.
std::optional<Message> decode_entry(std::string_view json);

// The separator of two entries; before the first entry, it is written without the comma.
inline constexpr std::string_view kEntrySeparator = ",\n    ";

// Formatted for its position in the file: the first line is not indented, the others are.
std::string encode_entry(const Message& message, const std::vector<Message>& before);
// The messages before the entry that have none of their own. nullopt if they cannot be read.
std::optional<std::vector<Message>> messages_before(std::string_view entry);
// The same for an entry that was read: the order of its members and their values are unchanged.
std::string format_entry(std::string_view json);
// Appends the scanner's next entry. Returns false, with `out` partly written, if it is not valid
// JSON.
bool append_entry(std::string& out, json::Scanner& scanner);

// Identifies an entry by what other programs keep of it: who, what and, if that is known, when.
std::string entry_mark(const Message& message, bool has_time);

// Whether the message ends a turn: a complete answer without tool calls.
bool is_answer(const Message& message);

}  // namespace reprise::store::context
