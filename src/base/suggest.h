#pragma once

// "did you mean": the nearest known word.

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace reprise {

// The one with the fewest edits (insert, delete, replace, swap of neighbours), when it is near
// enough to have been meant; "" when none is.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

// Up to `count` that could take its place, the nearest first: they differ in half of it at most.
std::vector<std::string_view> nearest_few(std::string_view word,
                                          std::span<const std::string_view> known,
                                          std::size_t count);

}  // namespace reprise
