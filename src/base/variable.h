#pragma once

// The process's environment variables.

#include <string>

namespace reprise {

// "" when it is not set. Reprise never sets variables, so this is thread-safe.
std::string variable(const char* name);

}  // namespace reprise
