#pragma once

// One line of messages.jsonl: {"role":…,"content":…,"reprise":{…}}. The last member is ours: what
// role and content cannot say, or the original would not accept (schema.h), and the trailer.

#include "base/json_scan.h"
#include "reprise/message.h"
#include "store/chatdir/schema.h"
#include "store/chatdir/trailer.h"

namespace reprise::store::chatdir {

// Appends the message's line with its end. `start` is the place in the file where the line begins;
// line, at and created_at of the trailer follow from the message; `names` are of the tools whose
// results it may hold. invalid_argument for a message whose opaque JSON is nested so deeply that
// the line could not be read again; unsupported for one whose line is longer than readers take.
Result<> append_line(std::string& out, std::int64_t start, const Message& message, Trailer trailer,
                     const ToolNames& names = {});

struct Line {
  Message message;         // its seq is 0
  bool lossy = false;      // text was no Unicode: U+FFFD stands for it
  bool duplicate = false;  // a member stands twice: the last one counts
};

// One JSON object. Control characters in strings are taken for what they are. corrupt for what is
// no object.
Result<Line> read_line(std::string_view text);

// The quick way for the most common kind of line, a message that is nothing but one text; nullopt
// for all others. `found` is the line's trailer where that is known.
std::optional<Line> read_plain_line(std::string_view text, const FoundTrailer* found = nullptr);

// Appends the value of `content`. What a part cannot say is left out: a reader of the result sees
// other blocks then.
void append_content(std::string& out, const std::vector<Block>& blocks);

// Reads the value of `content`, a string or an array. `lossy` becomes true when text was no
// Unicode and U+FFFD stands for it.
bool read_content(json::Scanner& scanner, std::vector<Block>& blocks, bool& lossy);

}  // namespace reprise::store::chatdir
