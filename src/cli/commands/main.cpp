// The program `reprise`: sets up the environment and catches all exceptions.

#include <unistd.h>

#include <csignal>
#include <exception>
#include <vector>

#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/process/process.h"

int main(int argc, char** argv, char** environment) {
  using reprise::cli::Output;
  // Writing to a closed pipe fails with EPIPE instead, so that the answer is still stored.
  (void)std::signal(SIGPIPE, SIG_IGN);  // fails only for invalid signals
  // Likewise EFBIG at the file size limit.
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
