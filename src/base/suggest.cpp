#include "base/suggest.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

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

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  if (word.empty() || word.size() > kWordBytesMax) {
    return "";
  }
  std::string_view best;
  std::size_t best_edits = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    const std::size_t count = edits(word, candidate);
    if (count < best_edits) {
      best = candidate;
      best_edits = count;
    }
  }
  return best;
}

std::vector<std::string_view> nearest_few(std::string_view word,
                                          std::span<const std::string_view> known,
                                          std::size_t count) {
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const std::string_view candidate : known) {
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

}  // namespace reprise
