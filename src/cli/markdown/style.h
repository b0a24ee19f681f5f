#pragma once

// Styled text without a position, and its wrapping. Plain values and pure functions.

#include <cstddef>      // IWYU pragma: export
#include <cstdint>      // IWYU pragma: export
#include <string>       // IWYU pragma: export
#include <string_view>  // IWYU pragma: export
#include <vector>       // IWYU pragma: export

namespace reprise::cli::app {

// The terminal's palette, which the user adapts to light or dark backgrounds.
enum class Colour : std::uint8_t { standard, red, green, yellow, blue, magenta, cyan };

struct Style {
  Colour colour = Colour::standard;
  bool bold = false;
  bool dim = false;
  bool italic = false;
  bool underline = false;
  bool reverse = false;
  friend bool operator==(const Style&, const Style&) = default;
};

inline constexpr Style kPlain{};
inline constexpr Style kBold{.bold = true};
inline constexpr Style kDim{.dim = true};

struct Span {
  std::string text;  // one line, sanitized for terminals
  Style style = {};
  friend bool operator==(const Span&, const Span&) = default;
};

using Line = std::vector<Span>;

// Extends the last span if it has the same style.
void append(Line& line, std::string_view text, Style style);

std::size_t width_of(const Line& line);

// The text without styles.
std::string text_of(const Line& line);

// The prefixes of a paragraph's lines: the mark of the first one ("1. "), and blanks of the same
// width for the others.
struct Margin {
  Line first = {};
  Line following = {};
};

// Breaks between words if possible, otherwise within a word, but never within a character. Lines
// are at most `width` columns wide including the margin (a wider character has its own line).
// Returns at least one line.
std::vector<Line> wrap(const Line& line, std::size_t width, const Margin& margin = {});

// The same for text of several lines. Sanitizes it for terminals and expands tabs.
std::vector<Line> wrap_text(std::string_view text, Style style, std::size_t width,
                            const Margin& margin = {});

// Like wrap(), but breaks only full lines; for code.
std::vector<Line> split_line(const Line& line, std::size_t width);

// Expands tabs to multiples of four columns, for a single line.
std::string expand_tabs(std::string_view line);

}  // namespace reprise::cli::app
