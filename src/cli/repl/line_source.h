#pragma once

// Where the REPL's input comes from: a line editor on a terminal, or plain lines.

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

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

}  // namespace reprise::cli
