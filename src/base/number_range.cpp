#include "base/number_range.h"

#include <cmath>
#include <cstdint>

#include "base/text.h"

namespace reprise {
namespace {

// All bounds in use are integers.
std::int64_t bound(double number) {
  return static_cast<std::int64_t>(number);
}

}  // namespace

std::string number_words(NumberKind kind, const NumberRange& range) {
  const std::string_view what = kind == NumberKind::whole ? "a whole number" : "a number";
  if (std::isfinite(range.min) && std::isfinite(range.max)) {
    return cat(what, " from ", bound(range.min), " to ", bound(range.max));
  }
  return std::isfinite(range.min) ? cat(what, " of ", bound(range.min), " or more")
                                  : std::string(what);
}

}  // namespace reprise
