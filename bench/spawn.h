#pragma once

// Runs a program to its end and says what it cost.

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

// As exec and posix_spawn want words and variables; they do not write to them.
std::vector<char*> pointers(const std::vector<std::string>& words);

// `command[0]` is a path. Standard input is empty, what it prints is dropped. Ends the benchmark
// when the program fails.
Cost spawn(const std::vector<std::string>& command, const std::vector<std::string>& environment);

}  // namespace bench
