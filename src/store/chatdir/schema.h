#pragma once

// What the original program accepts as a message. It checks all lines when it sends a chat to a
// model, and one that it does not know makes it refuse the whole chat. So `role` and `content` of a
// line are always what it accepts; the rest of a message stands in our own member.
//
//   system     a text
//   user       a text, or parts: text, image, file
//   assistant  a text, or parts: text, reasoning, file, tool-call, tool-result
//   tool       parts: tool-result, each with toolName and an output of a known type

#include <map>

#include "reprise/message.h"

namespace reprise::store::chatdir {

// By the id of a tool call, the name of the tool that was called.
using ToolNames = std::map<std::string, std::string>;

// The message as the original accepts it: another role, fewer blocks, and tool results with their
// tool's name as the extra field "toolName". nullopt when it accepts the message as it is.
std::optional<Message> accepted_form(const Message& message, const ToolNames& names);

// Whether the names of tools in its accepted form are all added, none the message's own.
bool lacks_tool_names(const Message& message);

// Takes "toolName" from the extra fields of all tool results.
void drop_tool_names(Message& message);

// Adds the tools that the message calls.
void add_tool_names(ToolNames& names, const Message& message);

}  // namespace reprise::store::chatdir
