#pragma once

// Markdown as people read it: headings, lists, tables, quotes, code, emphasis; raw HTML as it is
// written. Pure.

#include <vector>  // IWYU pragma: export

#include "cli/app/style.h"  // IWYU pragma: export

namespace reprise::cli::app {

// Lines of at most `width` columns, safe for a terminal. Where md4c is not installed, the text as
// it stands, wrapped.
std::vector<Line> markdown_lines(std::string_view text, std::size_t width);

}  // namespace reprise::cli::app
