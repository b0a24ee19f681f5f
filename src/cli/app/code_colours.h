#pragma once

// Colours for code of any language: comments, strings, numbers and the usual keywords. A guess by
// the look of the words, not a parser. Pure.

#include <string_view>
#include <vector>

#include "cli/app/style.h"

namespace reprise::cli::app {

// One Line for each line of the code, safe for a terminal, tabs expanded.
std::vector<Line> coloured_code(std::string_view code, std::string_view language);

}  // namespace reprise::cli::app
