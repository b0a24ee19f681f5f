#pragma once

// Fuzzy matching for filtering as the user types. Pure functions.

#include <optional>
#include <string_view>

namespace reprise::cli::app {

// Each word of the pattern must occur in the text: ideally as a substring or at the start of a
// word, otherwise with other letters in between. Higher is better; nullopt if a word does not
// occur. Both must be in lower case (ASCII).
std::optional<int> fuzzy_score(std::string_view text, std::string_view pattern);

}  // namespace reprise::cli::app
