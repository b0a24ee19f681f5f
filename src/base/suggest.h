#pragma once

// "did you mean": the nearest known word.

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace reprise {

// The known word with the smallest edit distance (insert, delete, replace, transpose), if it is
// close enough to be a typo; "" otherwise.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

// Up to `count` alternatives, nearest first, which differ in at most half of the word.
std::vector<std::string_view> nearest_few(std::string_view word,
                                          std::span<const std::string_view> known,
                                          std::size_t count);

}  // namespace reprise
