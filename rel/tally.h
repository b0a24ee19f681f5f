#pragma once

// Counts the trials of one sort.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::rel {

struct Tally {
  std::size_t trials = 0;
  std::vector<std::string> faults;  // one line each
  void add(std::string_view what, const std::string& fault);
  Tally& operator+=(const Tally& other);
};

// Prints the line for `who`, and the first faults. True if there were trials and no faults.
bool report(std::string_view trial, std::string_view who, const Tally& tally);

}  // namespace reprise::rel
