#pragma once

// What a search found, for people and as JSON.

#include "reprise/search.h"

namespace reprise::cli {

// One of the sources that were searched.
struct ShownSource {
  std::string name;  // what --store takes; "" when it is the store of the settings
  Source* source;
};

struct HitView {
  std::span<const ShownSource> sources;
  Time now;
  std::size_t columns;  // what is longer is cut
  bool colour = false;  // without it terms are marked by asterisks
};
// A line for each.
std::string hit_lines(const std::vector<SearchHit>& hits, const HitView& view);

// {"hits":[…],"next":…}
std::string hits_document(const SearchPage& page, std::span<const ShownSource> sources);

}  // namespace reprise::cli
