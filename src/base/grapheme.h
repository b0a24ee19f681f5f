#pragma once

// Grapheme clusters, which users perceive as one character, and their width in terminal columns.
// Invalid UTF-8 counts as one character of one column per byte.

#include <cstddef>
#include <string_view>

namespace reprise {

// The length in bytes of the first character; 0 for "".
std::size_t first_grapheme(std::string_view text);

// The first `count` characters, or all of the text if it has fewer.
std::string_view grapheme_prefix(std::string_view text, std::size_t count);

// The width in terminal columns: joined emoji and flags take 2, invisible characters 0.
std::size_t display_width(std::string_view text);

// The longest prefix of whole characters that fits into `columns`.
std::string_view width_prefix(std::string_view text, std::size_t columns);

}  // namespace reprise
