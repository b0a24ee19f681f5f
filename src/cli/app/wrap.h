#pragma once

// Long lines into short ones. Pure.

#include <cstddef>  // IWYU pragma: export
#include <string>   // IWYU pragma: export
#include <vector>   // IWYU pragma: export

#include "cli/app/style.h"  // IWYU pragma: export

namespace reprise::cli::app {

// What stands before the lines that a paragraph becomes: the first one's mark ("1. "), and blanks
// of the same width before the others.
struct Margin {
  Line first = {};
  Line rest = {};
};

// Breaks between words where it can, within a word where it must; never within a character. Each
// line is at most `width` columns wide, margin included (a character wider than that has a line of
// its own). At least one line.
std::vector<Line> wrap(const Line& line, std::size_t width, const Margin& margin = {});

// The same for text of several lines. It is made safe for a terminal first; tabs become blanks.
std::vector<Line> wrap_text(std::string_view text, Style style, std::size_t width,
                            const Margin& margin = {});

// Like wrap(), but breaks only where a line is full: for code.
std::vector<Line> cut_line(const Line& line, std::size_t width);

// Tabs to the next column that is a multiple of four, for one line without line ends.
std::string expand_tabs(std::string_view line);

}  // namespace reprise::cli::app
