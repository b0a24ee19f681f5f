#pragma once

// UTF-8 validation of input; invalid UTF-8 becomes U+FFFD.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>  // IWYU pragma: export

namespace reprise::utf8 {

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Well-formed as Unicode defines it: no overlong forms, surrogates or values above U+10FFFF.
bool is_valid(std::string_view bytes);

// The length of the longest valid prefix.
std::size_t valid_prefix(std::string_view bytes);

// Replaces each maximal ill-formed part by one U+FFFD (Unicode 15, section 3.9).
std::string sanitize(std::string_view bytes);

void append(std::string& out, char32_t code_point);

// The first character and its length in bytes. `text` must be valid and not empty.
struct Decoded {
  char32_t code_point;
  std::size_t bytes;
};
Decoded decode(std::string_view text);

// Whether the byte continues a character.
constexpr bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// The number of bytes at the end that start an incomplete character (0 to 3): a stream holds them
// back until more bytes arrive.
std::size_t incomplete_tail(std::string_view bytes);

}  // namespace reprise::utf8
