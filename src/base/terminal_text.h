#pragma once

// The one gate between foreign text (titles, messages, file names, error texts) and a terminal.
//
//  (1) What comes out holds no control character but line ends and tabs, so no escape sequence:
//      a control shows as its picture (U+241B for ESC), "\r\n" is a line end.
//  (2) What turns the reading direction around (bidi embeddings, overrides, isolates) and what
//      cannot be seen (zero-width blanks, tag characters) is left out. Joiners stay: emoji and
//      several scripts need them.
//  (3) It is valid UTF-8.

#include <string>
#include <string_view>

namespace reprise {

// Several lines.
std::string terminal_text(std::string_view bytes);

// One line: line ends and tabs become blanks.
std::string terminal_line(std::string_view bytes);

// JSON, unchanged in meaning: what (1) and (2) take out of text is written as \u escapes. `json`
// is valid JSON.
std::string terminal_json(std::string_view json);

// terminal_text() for text that comes in pieces, cut anywhere.
class TerminalGate {
 public:
  // What can be shown of all that came so far and was not returned yet.
  std::string pass(std::string_view bytes);
  // The rest, when nothing follows.
  std::string finish();

 private:
  std::string pending_;  // an unfinished character, or a CR that may belong to a line end
};

}  // namespace reprise
