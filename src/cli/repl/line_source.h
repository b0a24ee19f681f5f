#pragma once

// Where the REPL's input comes from: a line editor on a terminal, or plain lines.

#include <cstddef>
#include <functional>
#include <memory>  // IWYU pragma: export
#include <stop_token>

#include "reprise/error.h"

namespace reprise::cli {

// What one input may have; the rest of a longer one is left out, and Input::cut says so.
inline constexpr std::size_t kInputBytesMax = std::size_t{16} << 20;

struct Input {
  enum class Kind : std::uint8_t {
    text,     // one message or command, which may have several lines; no line end at the end
    stopped,  // it was asked to; what had been typed is gone
    end,      // Ctrl-D on an empty line, the end of the pipe, the terminal is gone
  };
  Kind kind = Kind::end;
  std::string text;
  bool cut = false;
};

class LineSource {
 public:
  virtual ~LineSource() = default;

  // Waits for the next input, or until it is asked to stop. `prompt` is shown where a person types.
  virtual Input read(std::string_view prompt, std::stop_token stop) = 0;

  // Makes `text` the newest entry that the up arrow brings back.
  virtual void remember(std::string_view text) = 0;
};

// The line editor, on libedit: history, several lines in one message, a paste as one message.
//
//   Enter            sends; adds a line after a backslash or inside an open ``` fence
//   Alt-Enter        adds a line
//   Ctrl-C           gives up what was typed
//   Ctrl-D           leaves, on an empty line
//   Up, Down, Ctrl-R earlier messages

// On standard input and standard error, both of which must be a terminal that can move its cursor.
// unsupported where libedit is missing or does not know the terminal.
Result<std::unique_ptr<LineSource>> make_edit_source();

// Lines as they come from a pipe, a file or a terminal without an editor.
struct PlainSourceOptions {
  int input_fd = 0;
  // Shows the prompt; empty when nobody sees it.
  std::function<void(std::string_view prompt)> show = {};
};

// A final line without a line end counts. Lines are joined after a backslash and inside a fence,
// as in the editor.
std::unique_ptr<LineSource> make_plain_source(PlainSourceOptions options);

}  // namespace reprise::cli
