#pragma once

// Line wrapping. Pure functions.

#include <cstddef>  // IWYU pragma: export
#include <string>   // IWYU pragma: export
#include <vector>   // IWYU pragma: export

#include "cli/markdown/style.h"  // IWYU pragma: export

namespace reprise::cli::app {

// The prefixes of a paragraph's lines: the mark of the first one ("1. "), and blanks of the same
// width for the others.
struct Margin {
  Line first = {};
  Line rest = {};
};

// Breaks between words if possible, otherwise within a word, but never within a character. Lines
// are at most `width` columns wide including the margin (a wider character has its own line).
// Returns at least one line.
std::vector<Line> wrap(const Line& line, std::size_t width, const Margin& margin = {});

// The same for text of several lines. Sanitizes it for terminals and expands tabs.
std::vector<Line> wrap_text(std::string_view text, Style style, std::size_t width,
                            const Margin& margin = {});

// Like wrap(), but breaks only full lines; for code.
std::vector<Line> cut_line(const Line& line, std::size_t width);

// Expands tabs to multiples of four columns, for a single line.
std::string expand_tabs(std::string_view line);

}  // namespace reprise::cli::app
