#include "base/variable.h"

#include <cstdlib>
#include <string>

namespace reprise {

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody calls setenv
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace reprise
