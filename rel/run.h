#pragma once

// Common to all programs of trials; main() is in main.cpp.

#include <string>
#include <string_view>
#include <vector>

namespace reprise::rel {

// Defined by each program. `words` are its arguments; returns its exit code, and may throw.
int run(std::vector<std::string> words);

// Prints the usage of the program; returns the exit code for that.
int usage(std::string_view words);

}  // namespace reprise::rel
