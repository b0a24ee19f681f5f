#pragma once

// A pager between standard output and the person, as in git.

#include <sys/types.h>

#include <memory>

#include "base/file.h"
#include "cli/output/output.h"
#include "cli/program/process_environment.h"

namespace reprise::cli {

// A shell command: $REPRISE_PAGER, $PAGER, or less where it is installed; "" for none ("cat").
std::string pager_command(const ProcessEnvironment& environment);

// While it lives, what is written to `out` goes through the command, and Ctrl-C is the pager's. The
// destructor writes the rest and waits until the person has closed it; a pager that was closed
// early is no failure.
class Pager {
 public:
  // `out` outlives it. io when it cannot be started.
  static Result<std::unique_ptr<Pager>> start(Output& out, const std::string& command);
  ~Pager();
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;

 private:
  Pager(Output& out, Fd writing, pid_t child);

  Output& out_;
  Fd writing_;
  pid_t child_;
};

}  // namespace reprise::cli
