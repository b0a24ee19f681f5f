#pragma once

// Runs a command line of the user with /bin/sh.

#include <chrono>
#include <filesystem>
#include <stop_token>

#include "reprise/error.h"

namespace reprise {

struct CommandOptions {
  std::filesystem::path folder;
  std::chrono::milliseconds timeout;
  std::int64_t bytes_max;
  std::stop_token stop;
};

// Returns its stdout; stdin is empty and stderr is inherited. The whole process group is killed on
// timeout (timeout), on stop (cancelled), and when it writes more than `bytes_max`
// (invalid_argument). io when it cannot be run or its exit code is not 0.
Result<std::string> run_command(const std::string& line, const CommandOptions& options);

}  // namespace reprise
