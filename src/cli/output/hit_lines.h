#pragma once

// What a search found, for people and as JSON.

#include "reprise/search.h"

namespace reprise::cli {

struct HitView {
  std::span<const std::string> sources;  // what --store takes; "" for the store of the settings
  Time now;
  std::size_t columns;  // what is longer is cut
  bool colour = false;  // without it terms are marked by asterisks
};
// A line for each.
std::string hit_lines(const std::vector<SearchHit>& hits, const HitView& view);

// {"hits":[…],"next":…}
std::string hits_document(const SearchPage& page, std::span<const std::string> sources);

}  // namespace reprise::cli
