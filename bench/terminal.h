#pragma once

// A program on a pseudo-terminal of 80x24, to measure the time until text is shown.

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "measure.h"

namespace bench {

class Terminal {
 public:
  // `command[0]` is a path.
  Terminal(const std::vector<std::string>& command, const std::vector<std::string>& environment);
  ~Terminal();  // kills the program if it is running
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Milliseconds from the start, or from the last type(), until it has written `text`. Ends the
  // benchmark on a timeout.
  double until(std::string_view text);
  // The same until it writes anything.
  double until_any() { return until(""); }
  double until_end();
  // Waits until there is no output for `milliseconds`.
  void settle(int milliseconds);
  void type(std::string_view keys);
  // Its peak memory so far.
  double peak_mb() const;

 private:
  // False on a timeout, or if it has ended.
  bool read_some(int milliseconds);

  pid_t pid_ = -1;
  int terminal_ = -1;
  Clock::time_point begin_;
  std::string shown_;  // since the start or the last type()
};

}  // namespace bench
