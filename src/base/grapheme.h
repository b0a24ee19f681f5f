#pragma once

// What a person counts as one character (a grapheme cluster), and how many columns of a terminal
// it takes. Bytes that are not UTF-8 count as one character of one column each.

#include <cstddef>
#include <string_view>

namespace reprise {

// The length in bytes of the first character; 0 for "".
std::size_t first_grapheme(std::string_view text);

// The first `count` characters, all of it when there are fewer.
std::string_view grapheme_prefix(std::string_view text, std::size_t count);

// Columns in a terminal: joined emoji and flags take 2, what does not show takes 0.
std::size_t display_width(std::string_view text);

// The longest beginning of whole characters that fits into `columns`.
std::string_view width_prefix(std::string_view text, std::size_t columns);

}  // namespace reprise
