#pragma once

// Whether what was typed means a text, and how well: for filtering as one types. Pure.

#include <optional>
#include <string_view>

namespace reprise::cli::app {

// Each word of the pattern must occur in the text: best as it is, at the start of a word, else with
// other letters between its own. The higher the better; nullopt when one does not occur. ASCII
// letters of the pattern must be small ones; those of the text as well.
std::optional<int> fuzzy_score(std::string_view text, std::string_view pattern);

}  // namespace reprise::cli::app
