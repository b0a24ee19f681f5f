#pragma once

// The order of relevance.

#include <vector>

#include "search/finder.h"

namespace reprise::search {

// The most relevant first; of equal ones the newest. `candidates` have counts, and `rarities` is
// how much each of the first phrases counts (rarity_of).
void rank(std::vector<Candidate>& candidates, const std::vector<double>& rarities);

// Of what stands in such a part of all messages.
double rarity_of(double density);

}  // namespace reprise::search
