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
  const double bytes = std::accumulate(
      candidates.begin(), candidates.end(), 1.0,
      [](double sum, const Candidate& one) { return sum + static_cast<double>(one.bytes); });
  const double mean = bytes / static_cast<double>(std::max<std::size_t>(candidates.size(), 1));
  struct Scored {
    double score;
    std::size_t at;
  };
  std::vector<Scored> order;
  order.reserve(candidates.size());
  for (std::size_t at = 0; at < candidates.size(); ++at) {
    const Candidate& one = candidates[at];
    const double dampening =
        kSaturation * (1 - kLength + kLength * static_cast<double>(one.bytes) / mean);
    double score = 0;
    for (std::size_t i = 0; i < std::min(rarities.size(), one.counts.size()); ++i) {
      const double count = static_cast<unsigned char>(one.counts[i]);
      score += rarities[i] * count * (kSaturation + 1) / (count + dampening);
    }
    order.push_back({score, at});
  }
  std::ranges::sort(order, [&](const Scored& a, const Scored& b) {
    return a.score != b.score ? a.score > b.score : candidates[a.at].key > candidates[b.at].key;
  });
  std::vector<Candidate> ranked;
  ranked.reserve(candidates.size());
  for (const Scored& one : order) {
    ranked.push_back(std::move(candidates[one.at]));
  }
  candidates = std::move(ranked);
}

}  // namespace reprise::search
