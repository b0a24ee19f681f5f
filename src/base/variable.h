#pragma once

// The process's environment variables.

#include <string>

namespace reprise {

// "" when it is not set. Nothing in Reprise sets variables, so any thread may ask.
std::string variable(const char* name);

}  // namespace reprise
