#pragma once

// The REPL's input: a line editor on a terminal, or plain lines; and what both share.

#include <cstddef>
#include <functional>
#include <memory>  // IWYU pragma: export
#include <stop_token>
#include <string>
#include <string_view>

#include "cli/process/input_wait.h"
#include "reprise/error.h"

namespace reprise::cli {

// Limits one input; Input::truncated tells that a longer one was truncated.
inline constexpr std::size_t kInputBytesMax = std::size_t{16} << 20;

struct Input {
  enum class Kind : std::uint8_t {
    text,     // a message or command of one or more lines, without the final line end
    stopped,  // a stop was requested; the typed text is discarded
    end,      // Ctrl-D on an empty line, the end of the pipe, or the terminal is gone
  };
  Kind kind = Kind::end;
  std::string text;
  bool truncated = false;
};

class LineSource {
 public:
  virtual ~LineSource() = default;

  // Waits for the next input or a stop request. Shows `prompt` if a user types.
  virtual Input read(std::string_view prompt, std::stop_token stop) = 0;

  // Adds `text` to the history as the newest entry.
  virtual void remember(std::string_view text) = 0;
};

// The line editor, based on libedit: history, multi-line messages, pasting as one message.
//
//   Enter            sends; adds a line after a backslash or inside an open ``` fence
//   Alt-Enter        adds a line
//   Ctrl-C           discards the typed text
//   Ctrl-D           leaves, on an empty line
//   Up, Down, Ctrl-R earlier messages

// Uses standard input and standard error, which must be a terminal with cursor movement.
// unsupported if libedit is missing or does not know the terminal.
Result<std::unique_ptr<LineSource>> make_edit_source();

// Reads plain lines from a pipe, a file or a terminal without an editor.
struct PlainSourceOptions {
  int input_fd = 0;
  // Shows the prompt; empty if there is no user.
  std::function<void(std::string_view prompt)> show = {};
};

// Accepts a final line without a line end. Joins lines after a backslash and inside a fence, as the
// editor does.
std::unique_ptr<LineSource> make_plain_source(PlainSourceOptions options);

// Whether the message is incomplete: the text ends in an odd number of backslashes, or a fence of
// three or more backticks is open.
bool needs_another_line(std::string_view text);

// Appends a line to `text`: replaces the backslash, or adds a line end first.
void add_line(std::string& text, std::string_view line);

// Cleans pasted text: line ends become '\n', invalid UTF-8 becomes U+FFFD; removes control
// characters except tabs, and the final line end.
std::string clean_paste(std::string_view pasted);

}  // namespace reprise::cli
