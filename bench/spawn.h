#pragma once

// Runs a program and measures its cost.

#include <string>
#include <vector>

#include "measure.h"

namespace bench {

struct Cost {
  Clock::time_point begin;
  double wall_us = 0;
  double cpu_us = 0;
  double peak_kb = 0;     // resident memory
  double written_kb = 0;  // to the file system
};

// Arguments for exec and posix_spawn, which do not write to them.
std::vector<char*> pointers(const std::vector<std::string>& words);

// `command[0]` is a path. Standard input is empty, output is discarded. Ends the benchmark if the
// program fails.
Cost spawn(const std::vector<std::string>& command, const std::vector<std::string>& environment);

}  // namespace bench
