#pragma once

// Waits for the terminal or a pipe until a stop is requested.

#include <chrono>
#include <cstdint>
#include <stop_token>

#include "base/file.h"

namespace reprise::cli {

enum class Ready : std::uint8_t { input, stopped, closed };

// Waits for input or a stop request: makes a stop token usable with poll(2).
class InputWait {
 public:
  explicit InputWait(std::stop_token stop);

  // Waits until `input_fd` is readable or at its end, or a stop is requested, which takes
  // precedence. `closed` if the input can no longer be polled.
  Ready wait(int input_fd) const;
  // Waits until the time has passed (`input`) or a stop is requested; `closed` as soon as nobody
  // reads `output_fd` any more.
  Ready pause(std::chrono::milliseconds time, int output_fd) const;

 private:
  struct Wake {
    int fd;
    void operator()() const;
  };
  Fd wake_;
  std::stop_callback<Wake> callback_;  // last: uses wake_
};

}  // namespace reprise::cli
