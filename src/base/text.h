#pragma once

// Text: building it (cat("row ", 17, ": ", reason)), numbers in it, one line of it, and the nearest
// known word.

#include <charconv>
#include <concepts>      // IWYU pragma: export
#include <cstddef>       // IWYU pragma: export
#include <cstdint>       // IWYU pragma: export
#include <functional>    // IWYU pragma: export
#include <limits>        // IWYU pragma: export
#include <optional>      // IWYU pragma: export
#include <span>          // IWYU pragma: export
#include <string>        // IWYU pragma: export
#include <string_view>   // IWYU pragma: export
#include <system_error>  // IWYU pragma: export
#include <utility>       // IWYU pragma: export
#include <vector>        // IWYU pragma: export

namespace reprise {

namespace detail {
inline void append_piece(std::string& out, std::string_view piece) {
  out += piece;
}
inline void append_piece(std::string& out, char piece) {
  out += piece;
}
template <std::integral Number>
  requires(!std::same_as<Number, char> && !std::same_as<Number, bool>)
void append_piece(std::string& out, Number piece) {
  out += std::to_string(piece);
}
}  // namespace detail

template <class... Pieces>
std::string cat(const Pieces&... pieces) {
  std::string out;
  (detail::append_piece(out, pieces), ...);
  return out;
}

inline bool is_ascii_digit(char c) {
  return c >= '0' && c <= '9';
}
inline bool is_ascii_alnum(char c) {
  return is_ascii_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
// "01980000-0000-7000-8000-000000000001", in lower case, of any version.
bool is_uuid(std::string_view text);
inline char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
std::string ascii_lower(std::string_view text);

// nullopt unless the whole text is one number.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number)
                                                                  : std::nullopt;
}

// "a, b, c", with `text` applied to each element.
template <class Range, class Text = std::identity>
std::string joined(const Range& range, Text text = {}) {
  std::string out;
  for (const auto& element : range) {
    const auto& piece = std::invoke(text, element);
    out += cat(out.empty() ? "" : ", ", piece);
  }
  return out;
}

// "a, b or c"
std::string alternatives(const std::vector<std::string_view>& words);

// "1 page", "2 pages".
std::string counted(std::int64_t count, std::string_view noun);

// The parts between the separators; none after one at the end.
std::vector<std::string_view> split(std::string_view text, char separator);

// Without the blanks, tabs and line ends at both ends.
std::string_view trimmed(std::string_view text);

// The known word with the smallest edit distance (insert, delete, replace, transpose), if it is
// close enough to be a typo; "" otherwise.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

// Up to `count` alternatives, nearest first, which differ in at most half of the word.
std::vector<std::string_view> nearest_few(std::string_view word,
                                          std::span<const std::string_view> candidates,
                                          std::size_t count);

// The numbers that a flag or a setting accepts.
struct NumberRange {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();

  bool holds(double number) const { return number >= min && number <= max; }
};

enum class NumberKind : unsigned char { whole, any };

// "a whole number from 1 to 1000", "a number of 0 or more", "a number"
std::string number_words(NumberKind kind, const NumberRange& range);

// One line: controls and runs of blanks become one blank; invalid UTF-8 becomes U+FFFD.
std::string clean_line(std::string_view text);

}  // namespace reprise
