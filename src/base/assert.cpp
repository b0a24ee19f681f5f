#include "base/assert.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace reprise {

void assertion_failed(const char* condition, const char* file, int line) noexcept {
  // From the source tree's top, wherever it was built.
  std::string_view place = file;
  if (const auto top = place.rfind("/src/"); top != std::string_view::npos) {
    place.remove_prefix(top + 1);
  }
  std::fprintf(stderr, "%.*s:%d: broken invariant: %s\n", static_cast<int>(place.size()),
               place.data(), line, condition);
  std::abort();
}

}  // namespace reprise
