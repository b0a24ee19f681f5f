#pragma once

// Messages that another program's loop gives, in the form of docs/json.md. They are checked as a
// whole before anything is stored, more strictly than those that are read back from a store: what a
// reader would keep as an unknown field is here most likely a mistake.
//
//  (1) A message has `role` and `blocks`, the fields of model/fields.h, the marks `injected` and
//      `summary`, and in `others` what it likes; `seq` is ignored.
//  (2) A block of a known type has the members of that type; it may have others. Blocks of other
//      types are stored as they are.
//  (3) Without `created_at` its time is `now`; null is an unknown time.

#include <vector>  // IWYU pragma: export

#include "reprise/message.h"  // IWYU pragma: export

namespace reprise {

// What is read at once: of a request, and of everything that is appended in one step.
inline constexpr std::int64_t kGivenBytesMax = std::int64_t{64} << 20;

// user, assistant, system or tool. invalid_argument for others.
Result<> check_role(std::string_view role);

// One JSON object. invalid_argument, which names the member.
Result<Message> message_given(std::string_view json, Time now);
// JSON objects one after the other, usually one per line. The error names the line.
Result<std::vector<Message>> messages_given(std::string_view text, Time now);
// A JSON array of them, at least one. The error names the index.
Result<std::vector<Message>> message_array_given(std::string_view json, Time now);
// Blocks one after the other; as above.
Result<std::vector<Block>> blocks_given(std::string_view text);
// A message with this text. invalid_argument for text that is empty or not UTF-8; names the line.
Result<Message> text_given(std::string_view role, std::string text, Time now);
// invalid_argument, which names the line.
Result<> check_utf8(std::string_view text);

}  // namespace reprise
