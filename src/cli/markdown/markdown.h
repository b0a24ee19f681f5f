#pragma once

// Renders Markdown: headings, lists, tables, quotes, code, emphasis; raw HTML is shown as source.
// Pure functions.

#include <vector>  // IWYU pragma: export

#include "cli/markdown/style.h"  // IWYU pragma: export

namespace reprise::cli::app {

// Lines of at most `width` columns, sanitized for terminals. If md4c is not installed, the plain
// text, wrapped.
std::vector<Line> markdown_lines(std::string_view text, std::size_t width);

}  // namespace reprise::cli::app
