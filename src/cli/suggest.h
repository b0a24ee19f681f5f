#pragma once

// "did you mean": the nearest known word.

#include <span>
#include <string_view>

namespace reprise::cli {

// The one with the fewest edits (insert, delete, replace, swap of neighbours), when it is near
// enough to have been meant; "" when none is.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace reprise::cli
