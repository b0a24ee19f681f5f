#pragma once

// Splits a line of code of any language into comments, strings, numbers and common keywords. A
// heuristic, not a parser. Pure.

#include <cstdint>
#include <functional>
#include <string_view>

namespace reprise {

enum class CodeToken : std::uint8_t { other, comment, string, number, keyword };

// Calls `sink` with each token of the line, in order.
void for_each_code_token(std::string_view line, std::string_view language,
                         const std::function<void(std::string_view text, CodeToken token)>& sink);

}  // namespace reprise
