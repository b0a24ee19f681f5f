#pragma once

// A program on a pseudo-terminal of 80x24, and how long it takes until something is shown.

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
  ~Terminal();  // kills it when it still runs
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Milliseconds from the start, or from the last type(), until it has written `wanted`. Ends the
  // benchmark when it does not come.
  double until(std::string_view text);
  // Until it writes at all.
  double until_any() { return until(""); }
  double until_end();
  // Waits until nothing has come for so long.
  void settle(int milliseconds);
  void type(std::string_view keys);
  // The most memory it has had so far.
  double peak_mb() const;

 private:
  // False when nothing came in time, or it has ended.
  bool read_some(int milliseconds);

  pid_t pid_ = -1;
  int terminal_ = -1;
  Clock::time_point begin_;
  std::string shown_;  // since the start or the last type()
};

}  // namespace bench
