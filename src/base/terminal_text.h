#pragma once

// Sanitizes all foreign text (titles, messages, file names, error texts) for a terminal.
//
//  (1) The output contains no control characters except line ends and tabs, so no escape sequences:
//      a control is shown as its picture (U+241B for ESC), "\r\n" is a line end.
//  (2) Bidi embeddings, overrides and isolates, and invisible characters (zero-width blanks, tag
//      characters) are removed. Joiners are preserved: emoji and several scripts need them.
//  (3) The output is valid UTF-8.

#include <string>
#include <string_view>

namespace reprise {

// Multi-line text.
std::string terminal_text(std::string_view bytes);

// One line: line ends and tabs become blanks.
std::string terminal_line(std::string_view bytes);

// JSON with the same meaning: the characters of (1) and (2) are written as \u escapes. `json` must
// be valid JSON.
std::string terminal_json(std::string_view json);

// terminal_text() for text that arrives in pieces of any size.
class TerminalGate {
 public:
  // Returns what can be shown of the text so far and has not been returned yet.
  std::string pass(std::string_view bytes);
  // Returns the rest at the end of the text.
  std::string finish();

 private:
  std::string pending_;  // an unfinished character, or a CR that may belong to a line end
};

}  // namespace reprise
