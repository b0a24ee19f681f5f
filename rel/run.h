#pragma once

// What every program of trials has in common: main() is in main.cpp.

#include <string>
#include <string_view>
#include <vector>

namespace reprise::rel {

// Each program has its own. `words` stand behind its name; returns its exit code, and may throw.
int run(std::vector<std::string> words);

// Says how the program is used; returns the exit code for that.
int usage(std::string_view words);

}  // namespace reprise::rel
