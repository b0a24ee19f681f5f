#include <cstdio>
#include <exception>

#include "base/text.h"
#include "run.h"

namespace reprise::rel {

int usage(std::string_view words) {
  (void)std::fputs(cat("usage: ", words, "\n").c_str(), stderr);
  return 64;
}

}  // namespace reprise::rel

int main(int argc, char** argv) {
  try {
    return reprise::rel::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    (void)std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}
