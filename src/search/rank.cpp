#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "search/hits.h"

namespace reprise::search {

double rarity_of(double density) {
  return std::log(1.0 + (1.0 - density + 1e-6) / (density + 1e-6));
}

// BM25 with its usual constants: further occurrences count less than the first one, and occurrences
// in a long message less than in a short one.
void rank(std::vector<Candidate>& candidates, const std::vector<double>& rarities) {
  constexpr double kSaturation = 1.2;
  constexpr double kLength = 0.75;
  const double bytes = std::accumulate(candidates.begin(), candidates.end(), 1.0,
                                       [](double sum, const Candidate& candidate) {
                                         return sum + static_cast<double>(candidate.bytes);
                                       });
  const double mean = bytes / static_cast<double>(std::max<std::size_t>(candidates.size(), 1));
  struct Score {
    double score;
    std::size_t index;
  };
  std::vector<Score> order;
  order.reserve(candidates.size());
  for (std::size_t index = 0; index < candidates.size(); ++index) {
    const Candidate& candidate = candidates[index];
    const double dampening =
        kSaturation * (1 - kLength + kLength * static_cast<double>(candidate.bytes) / mean);
    double score = 0;
    for (std::size_t i = 0; i < std::min(rarities.size(), candidate.counts.size()); ++i) {
      const double count = static_cast<unsigned char>(candidate.counts[i]);
      score += rarities[i] * count * (kSaturation + 1) / (count + dampening);
    }
    order.push_back({score, index});
  }
  std::ranges::sort(order, [&](const Score& a, const Score& b) {
    return a.score != b.score ? a.score > b.score
                              : candidates[a.index].key > candidates[b.index].key;
  });
  std::vector<Candidate> ranked;
  ranked.reserve(candidates.size());
  for (const Score& entry : order) {
    ranked.push_back(std::move(candidates[entry.index]));
  }
  candidates = std::move(ranked);
}

}  // namespace reprise::search
