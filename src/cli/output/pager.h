#pragma once

// A pager for standard output, as in git.

#include <sys/types.h>

#include <memory>

#include "base/file.h"
#include "cli/process/output.h"
#include "cli/process/process_environment.h"

namespace reprise::cli {

// A shell command: $REPRISE_PAGER, $PAGER, or less if it is installed; "" for none ("cat").
std::string pager_command(const ProcessEnvironment& environment);

// While it exists, `out` is piped to the command, and Ctrl-C belongs to the pager. The destructor
// flushes and waits until the user quits the pager; quitting early is not a failure.
class Pager {
 public:
  // `out` must outlive it. io if the command cannot be started.
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
