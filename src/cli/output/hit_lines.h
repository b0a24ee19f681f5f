#pragma once

// Search results as text and as JSON.

#include "reprise/search.h"

namespace reprise::cli {

struct HitView {
  std::span<const std::string> sources;  // values for --store; "" for the settings' store
  Time now;
  std::size_t columns;  // longer lines are cut
  bool colour = false;  // false: terms are marked by asterisks
};
// One line per hit.
std::string hit_lines(const std::vector<SearchHit>& hits, const HitView& view);

// {"hits":[…],"next":…}
std::string hits_document(const SearchPage& page, std::span<const std::string> sources);

}  // namespace reprise::cli
