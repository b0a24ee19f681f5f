#pragma once

// Detects incomplete messages: a final backslash or an open ``` fence. Pure functions.

#include <string>
#include <string_view>

namespace reprise::cli {

// Whether the text ends in an odd number of backslashes, or a fence of three or more backticks is
// open.
bool needs_another_line(std::string_view text);

// Appends a line to `text`: replaces the backslash, or adds a line end first.
void add_line(std::string& text, std::string_view line);

// Cleans pasted text: line ends become '
// ', invalid UTF-8 becomes U+FFFD; removes control characters except tabs, and the final line end.
std::string clean_paste(std::string_view pasted);

}  // namespace reprise::cli
