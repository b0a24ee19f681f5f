#pragma once

// A program whose standard output is read line by line, and that can be killed at any time.

#include <sys/types.h>

#include <optional>
#include <vector>

#include "base/file.h"

namespace reprise::e2e {

class ChildProcess {
 public:
  // arguments[0] is the program's path.
  explicit ChildProcess(std::vector<std::string> arguments);
  ~ChildProcess();  // kills the process if it is running
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // The next whole line; nullopt at the end of the output, or if there is none within a minute.
  std::optional<std::string> line();

  // kill -9. Earlier output can still be read.
  void kill() const;

  // The exit status; -1 if it did not exit by itself.
  int wait();

 private:
  bool fill();

  Fd output_;
  pid_t pid_ = -1;
  std::string buffer_;
};

}  // namespace reprise::e2e
