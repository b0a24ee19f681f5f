#pragma once

// A command line of the user's, run by /bin/sh.

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

// What it writes to stdout; stdin is empty and stderr stays the caller's. The whole process group
// is ended at the end of the time (timeout), on stop (cancelled), and when it writes more than
// `bytes_max` (invalid_argument). io when it cannot be run or exits with another code than 0.
Result<std::string> run_command(const std::string& line, const CommandOptions& options);

}  // namespace reprise
