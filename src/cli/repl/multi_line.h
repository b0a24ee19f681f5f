#pragma once

// When a line is not the whole message: it ends in a backslash, or a ``` fence is still open. Pure.

#include <string>
#include <string_view>

namespace reprise::cli {

// Whether an odd backslash ends the text, or a line of three or more backticks waits for its
// partner.
bool wants_another_line(std::string_view text);

// `text` with the next line added: in place of the backslash, or after a line end.
void add_line(std::string& text, std::string_view line);

// What a terminal pasted, as it may stand in a message: line ends as '\n', tabs kept, other
// control characters left out, bytes that are not UTF-8 as U+FFFD, no line end at the end.
std::string clean_paste(std::string_view pasted);

}  // namespace reprise::cli
