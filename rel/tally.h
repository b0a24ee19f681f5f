#pragma once

// Trials of one sort, counted.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::rel {

struct Tally {
  std::size_t tried = 0;
  std::vector<std::string> faults;  // one line each
  void add(std::string_view what, const std::string& fault);
  Tally& operator+=(const Tally& other);
};

// The line that says what became of `who`, and the first faults. True when something was tried and
// there was none.
bool report(std::string_view trial, std::string_view who, const Tally& tally);

}  // namespace reprise::rel
