#pragma once

// Text as it is compared: the same whether a letter and its accent are one character or two, in
// either case, with or without accents, and in compatibility forms ("Ｃafé" is "cafe", "ß" is
// "ss").

#include <string>       // IWYU pragma: export
#include <string_view>  // IWYU pragma: export

namespace reprise {

// Appends the folded form of one character. Hangul syllables and kana remain as they are: their
// parts are not accents.
void append_folded(std::string& out, char32_t code_point);

// Invalid UTF-8 becomes U+FFFD.
std::string folded(std::string_view text);

}  // namespace reprise
