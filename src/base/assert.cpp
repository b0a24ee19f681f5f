#include "base/assert.h"

#include <unistd.h>

#include <cstdlib>

#include "base/text.h"

namespace reprise {

void assertion_failed(const char* condition, const char* file, int line) noexcept {
  // Relative to the top of the source tree, wherever it was built.
  std::string_view place = file;
  if (const auto top = place.rfind("/src/"); top != std::string_view::npos) {
    place.remove_prefix(top + 1);
  }
  const std::string text = cat(place, ":", line, ": broken invariant: ", condition, "\n");
  (void)!::write(STDERR_FILENO, text.data(), text.size());
  std::abort();
}

}  // namespace reprise
