// The program `reprise`. Everything it does stands in the commands; this puts the pieces together
// and holds the one place where exceptions end.

#include <unistd.h>

#include <csignal>
#include <exception>
#include <vector>

#include "base/text.h"
#include "cli/output/output.h"
#include "cli/program/exit.h"
#include "cli/program/process_environment.h"
#include "cli/program/program.h"

int main(int argc, char** argv, char** environment) {
  using reprise::cli::Output;
  // A closed pipe is an error of the write that meets it: the answer is stored all the same.
  (void)std::signal(SIGPIPE, SIG_IGN);  // fails only for what is no signal
  // So is a file that may not grow.
  (void)std::signal(SIGXFSZ, SIG_IGN);
  Output err(STDERR_FILENO, "standard error");
  try {
    Output out(STDOUT_FILENO, "standard output");
    const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    const auto variables = reprise::cli::ProcessEnvironment::read(environment);
    return static_cast<int>(reprise::cli::run_program(words, variables, out, err));
  } catch (const std::exception& error) {
    err.write(reprise::cat("reprise: unexpected failure: ", std::string_view(error.what()), "\n"));
  } catch (...) {
    err.write("reprise: unexpected failure\n");
  }
  return static_cast<int>(reprise::cli::Exit::failed);
}
