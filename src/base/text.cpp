#include "base/text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"

namespace reprise {
namespace {

constexpr std::size_t kWordBytesMax = 64;

// Optimal string alignment distance, with three rows of the matrix.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

// All bounds in use are integers.
std::int64_t bound(double number) {
  return static_cast<std::int64_t>(number);
}

// The C0 and C1 controls, the line and paragraph separators, and bidi controls.
bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 ||
         (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

std::string ascii_lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return ascii_lower(c); });
  return out;
}

bool is_uuid(std::string_view text) {
  constexpr std::string_view kForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  return std::ranges::equal(text, kForm, [](char c, char form) {
    return form == '-' ? c == '-' : is_ascii_digit(c) || (c >= 'a' && c <= 'f');
  });
}

std::string alternatives(const std::vector<std::string_view>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    out += cat(i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", words[i]);
  }
  return out;
}

std::string counted(std::int64_t count, std::string_view noun) {
  return cat(count, " ", noun, count == 1 ? "" : "s");
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    parts.push_back(text.substr(0, text.find(separator)));
    text.remove_prefix(std::min(parts.back().size() + 1, text.size()));
  }
  return parts;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\v\f";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.empty() || word.size() > kWordBytesMax) {
    return "";
  }
  std::string_view best;
  std::size_t best_edits = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t count = edits(word, candidate);
    if (count < best_edits) {
      best = candidate;
      best_edits = count;
    }
  }
  return best;
}

std::vector<std::string_view> nearest_few(std::string_view word,
                                          std::span<const std::string_view> candidates,
                                          std::size_t count) {
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const std::string_view candidate : candidates) {
    if (word.size() > kWordBytesMax || candidate.size() > kWordBytesMax) {
      continue;
    }
    if (const std::size_t distance = edits(word, candidate); distance <= word.size() / 2) {
      near.emplace_back(distance, candidate);
    }
  }
  std::ranges::stable_sort(near, {}, &std::pair<std::size_t, std::string_view>::first);
  std::vector<std::string_view> out;
  for (const auto& [distance, candidate] : near) {
    if (out.size() < count) {
      out.push_back(candidate);
    }
  }
  return out;
}

std::string number_words(NumberKind kind, const NumberRange& range) {
  const std::string_view noun = kind == NumberKind::whole ? "a whole number" : "a number";
  if (std::isfinite(range.min) && std::isfinite(range.max)) {
    return cat(noun, " from ", bound(range.min), " to ", bound(range.max));
  }
  return std::isfinite(range.min) ? cat(noun, " of ", bound(range.min), " or more")
                                  : std::string(noun);
}

std::string clean_line(std::string_view text) {
  const std::string clean = utf8::sanitize(text);
  std::string_view remaining = clean;
  std::string out;
  while (!remaining.empty()) {
    const auto [c, bytes] = utf8::decode(remaining);
    if (is_control(c) || c == ' ') {
      if (!out.empty() && out.back() != ' ') {
        out += ' ';
      }
    } else {
      out += remaining.substr(0, bytes);
    }
    remaining.remove_prefix(bytes);
  }
  return std::string(trimmed(out));
}

}  // namespace reprise
