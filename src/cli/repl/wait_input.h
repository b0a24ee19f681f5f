#pragma once

// Waiting for bytes until somebody asks to stop.

#include <stop_token>

#include "base/file.h"

namespace reprise::cli {

enum class Ready : std::uint8_t { input, stopped, gone };

// Makes a stop token something that poll(2) can wait for.
class InputWait {
 public:
  explicit InputWait(std::stop_token stop);

  // Until `input_fd` has bytes (or its end), or the stop was requested, which wins. `gone` when the
  // input cannot be waited for any more.
  Ready wait(int input_fd) const;

 private:
  struct Wake {
    int fd;
    void operator()() const;
  };
  Fd wake_;
  std::stop_callback<Wake> callback_;  // last: it uses wake_
};

}  // namespace reprise::cli
