#pragma once

// One entry of a context file's conversation: {"role","content","timestamp"[,"usage"]
// [,"incomplete"]}. What these members cannot say stands in a member "reprise" of the entry.

#include "base/json_scan.h"
#include "reprise/message.h"

namespace reprise::store::context {

// The programs that read these files know questions, prompts and answers in words. A turn is one
// question and one answer for them, so what was called and came back in between, and what says
// nothing, has no entry of its own: it stands in the member "reprise" of the entry that follows, as
// "before", or in that of the file, as "after", while none follows.
bool has_entry(const Message& message);

// nullopt for JSON that is no message: no object, or without a role and a text.
std::optional<Message> decode_entry(std::string_view json);

// What stands between two entries, and before the first without the comma.
inline constexpr std::string_view kBetweenEntries = ",\n    ";

// Spelled for its place in the file: the first line as it stands, the others indented.
std::string encode_entry(const Message& message, const std::vector<Message>& before);
// What stands before it. nullopt when that cannot be read.
std::optional<std::vector<Message>> messages_before(std::string_view entry);
// The same for an entry that was read: its members in their order, their values untouched.
std::string respell_entry(std::string_view json);
// Appends the entry that comes next. False, with something in `out`, when it is not valid JSON.
bool append_entry(std::string& out, json::Scanner& scanner);

// Ends a turn: a whole answer that calls no tool.
bool is_answer(const Message& message);

}  // namespace reprise::store::context
