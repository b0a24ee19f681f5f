#pragma once

// What a search found, for people and as JSON.

#include <string>
#include <vector>

#include "reprise/search.h"

namespace reprise::cli {

// How commands name the message: "e32c41d0#12".
std::string place_of(const SearchHit& hit);

struct HitView {
  // What --store takes for each source that was searched; "" for the one that needs none.
  std::span<const std::string> sources;
  Time now;
  std::size_t columns;  // what is longer is cut
  bool colour = false;  // without it terms are marked by asterisks
};
// A line for each.
std::string hit_lines(const std::vector<SearchHit>& hits, const HitView& view);

// {"hits":[…],"next":…}
std::string hits_document(const SearchPage& page, std::span<const std::string> sources);

}  // namespace reprise::cli
