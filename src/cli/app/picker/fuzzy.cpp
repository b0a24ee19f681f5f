#include "cli/app/picker/fuzzy.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/text.h"

namespace reprise::cli::app {
namespace {

constexpr int kWhole = 100;     // an exact substring
constexpr int kWordStart = 30;  // at the start of a word of the text
constexpr int kNear = 8;        // adjacent to the previous letter
constexpr int kGapCost = 1;

bool starts_word(std::string_view text, std::size_t at) {
  return at == 0 || !is_ascii_alnum(text[at - 1]);
}

std::optional<int> whole_score(std::string_view text, std::string_view word) {
  std::optional<int> best;
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    if (starts_word(text, at)) {
      return kWhole + kWordStart;
    }
    best = kWhole;
  }
  return best;
}

// Matches the letters in order, each at its first occurrence.
std::optional<int> spread_score(std::string_view text, std::string_view word) {
  int score = 0;
  std::size_t next = 0;
  for (const char letter : word) {
    const std::size_t at = text.find(letter, next);
    if (at == std::string_view::npos) {
      return std::nullopt;
    }
    if (at == next && next > 0) {
      score += kNear;
    } else if (starts_word(text, at)) {
      score += kNear / 2;
    } else {
      score -= static_cast<int>(std::min<std::size_t>(at - next, 10)) * kGapCost;
    }
    next = at + 1;
  }
  return score;
}

}  // namespace

std::optional<int> fuzzy_score(std::string_view text, std::string_view pattern) {
  int score = 0;
  while (true) {
    pattern = trimmed(pattern);
    if (pattern.empty()) {
      return score;
    }
    const std::string_view word = pattern.substr(0, std::min(pattern.find(' '), pattern.size()));
    pattern.remove_prefix(word.size());
    auto found = whole_score(text, word);
    if (!found) {
      found = spread_score(text, word);
    }
    if (!found) {
      return std::nullopt;
    }
    score += *found;
  }
}

}  // namespace reprise::cli::app
