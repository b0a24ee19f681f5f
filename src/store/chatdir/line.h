#pragma once

// One line of messages.jsonl: {"role":…,"content":…,"reprise":{…}}. The last member is ours: it has
// the trailer, and what role and content cannot represent, or the original program would not
// accept. That validates all lines when it sends a chat to a model, and refuses the whole chat if
// one is invalid. So `role` and `content` of a line are always in a form that it accepts:
//
//   system     a text
//   user       a text, or parts: text, image, file
//   assistant  a text, or parts: text, reasoning, file, tool-call, tool-result
//   tool       parts: tool-result, each with toolName and an output of a known type

#include <map>

#include "base/json_scan.h"
#include "reprise/message.h"
#include "store/chatdir/trailer.h"

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

// Appends the message's line with its line end. `start` is the file offset of the line; line, at
// and created_at of the trailer are set from the message; `names` are the tools whose results it
// may contain. invalid_argument for a message whose opaque JSON is nested too deeply for the line
// to be read again; unsupported if the line would exceed the limit of readers.
Result<> append_line(std::string& out, std::int64_t start, const Message& message, Trailer trailer,
                     const ToolNames& names = {});

// Puts JSON in one line: its line ends occur only between tokens, where a blank is equivalent.
void replace_line_ends(std::string& json);

struct Line {
  Message message;         // its seq is 0
  bool lossy = false;      // text was not valid Unicode and has U+FFFD instead
  bool duplicate = false;  // a member occurs twice; the last one is used
  bool is_ours = false;    // has our member
};

// Parses one JSON object. Raw control characters in strings are accepted. corrupt if it is not an
// object.
Result<Line> read_line(std::string_view text);

// A fast path for the most common kind of line, a message with a single text; nullopt for all
// others. `found` is the line's trailer if it is known.
std::optional<Line> read_plain_line(std::string_view text, const FoundTrailer* found = nullptr);

// Appends the value of `content`. Fields that a part cannot represent are omitted, so reading the
// result may return other blocks.
void append_content(std::string& out, const std::vector<Block>& blocks);

// Reads the value of `content`, a string or an array. Sets `lossy` if text was not valid Unicode
// and has U+FFFD instead.
bool read_content(json::Scanner& scanner, std::vector<Block>& blocks, bool& lossy);

}  // namespace reprise::store::chatdir
