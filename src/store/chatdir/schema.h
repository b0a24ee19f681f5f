#pragma once

// The messages that the original program accepts. It validates all lines when it sends a chat to a
// model, and refuses the whole chat if one is invalid. So `role` and `content` of a line are always
// in a form that it accepts; the remaining parts of a message are in our own member.
//
//   system     a text
//   user       a text, or parts: text, image, file
//   assistant  a text, or parts: text, reasoning, file, tool-call, tool-result
//   tool       parts: tool-result, each with toolName and an output of a known type

#include <map>

#include "reprise/message.h"

namespace reprise::store::chatdir {

// Maps the id of a tool call to the name of the tool.
using ToolNames = std::map<std::string, std::string>;

// The message in a form that the original accepts: with another role, fewer blocks, and the tool's
// name in each tool result as the extra field "toolName". nullopt if it accepts the message
// unchanged.
std::optional<Message> accepted_form(const Message& message, const ToolNames& names);

// Whether all tool names in its accepted form are added, none from the message itself.
bool lacks_tool_names(const Message& message);

// Removes "toolName" from the extra fields of all tool results.
void drop_tool_names(Message& message);

// Adds the tools that the message calls.
void add_tool_names(ToolNames& names, const Message& message);

}  // namespace reprise::store::chatdir
