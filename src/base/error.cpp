#include "reprise/error.h"

#include <unistd.h>

#include <cstdlib>

#include "base/assert.h"
#include "base/text.h"

namespace reprise {

std::string_view to_string(Code code) {
  switch (code) {
    case Code::not_found:
      return "not_found";
    case Code::ambiguous:
      return "ambiguous";
    case Code::invalid_argument:
      return "invalid_argument";
    case Code::conflict:
      return "conflict";
    case Code::busy:
      return "busy";
    case Code::corrupt:
      return "corrupt";
    case Code::unsupported:
      return "unsupported";
    case Code::unauthorized:
      return "unauthorized";
    case Code::rate_limited:
      return "rate_limited";
    case Code::too_long:
      return "too_long";
    case Code::expired:
      return "expired";
    case Code::timeout:
      return "timeout";
    case Code::cancelled:
      return "cancelled";
    case Code::io:
      return "io";
  }
  return "io";
}

void assertion_failed(const char* condition, const char* file, int line) noexcept {
  // Relative to the top of the source tree, wherever it was built.
  std::string_view path = file;
  if (const auto top = path.rfind("/src/"); top != std::string_view::npos) {
    path.remove_prefix(top + 1);
  }
  const std::string text = cat(path, ":", line, ": broken invariant: ", condition, "\n");
  (void)!::write(STDERR_FILENO, text.data(), text.size());
  std::abort();
}

}  // namespace reprise
