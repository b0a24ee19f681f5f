#pragma once

// Text for a terminal: all foreign text (titles, messages, file names, error texts) is sanitized
// before it is shown.
//
//  (1) The output contains no control characters except line ends and tabs, so no escape sequences:
//      a control is shown as its picture (U+241B for ESC), "\r\n" is a line end.
//  (2) Bidi embeddings, overrides and isolates, and invisible characters (zero-width blanks, tag
//      characters) are removed. Joiners are preserved: emoji and several scripts need them.
//  (3) The output is valid UTF-8.
//
// It is measured in characters as users perceive them (grapheme clusters) and in columns. Invalid
// UTF-8 counts as one character of one column per byte.

#include <cstddef>  // IWYU pragma: export
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
class TerminalSanitizer {
 public:
  // Returns what can be shown of the text so far and has not been returned yet.
  std::string pass(std::string_view bytes);
  // Returns the rest at the end of the text.
  std::string finish();

 private:
  std::string pending_;  // an unfinished character, or a CR that may belong to a line end
};

// In lower case, with each character where it was: one whose lower case has another length remains.
std::string lower_case(std::string_view text);

// The length in bytes of the first character; 0 for "".
std::size_t first_grapheme(std::string_view text);

// The first `count` characters, or all of the text if it has fewer.
std::string_view grapheme_prefix(std::string_view text, std::size_t count);

// The width in terminal columns: joined emoji and flags take 2, invisible characters 0.
std::size_t display_width(std::string_view text);

// The longest prefix of whole characters that fits into `columns`.
std::string_view width_prefix(std::string_view text, std::size_t columns);

}  // namespace reprise
