#pragma once

// The words of a message as such chats spell them: `content` is a string, or an array of parts
// (text, reasoning, tool-call, tool-result, image). What is no part we know stays as it is.

#include "base/json_scan.h"
#include "reprise/message.h"

namespace reprise::store::chatdir {

// Appends the value of `content`. What a part cannot say is left out: a reader of the result sees
// other blocks then.
void append_content(std::string& out, const std::vector<Block>& blocks);

// Reads the value of `content`, a string or an array. `lossy` becomes true when text was no
// Unicode and U+FFFD stands for it.
bool read_content(json::Scanner& scanner, std::vector<Block>& blocks, bool& lossy);

}  // namespace reprise::store::chatdir
