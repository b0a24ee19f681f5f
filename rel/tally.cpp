#include "tally.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include "base/text.h"

namespace reprise::rel {
namespace {

constexpr std::size_t kFaultsShown = 10;

}  // namespace

void Tally::add(std::string_view what, const std::string& fault) {
  ++trials;
  if (!fault.empty()) {
    faults.push_back(cat(what, ": ", fault));
  }
}

Tally& Tally::operator+=(const Tally& other) {
  trials += other.trials;
  faults.insert(faults.end(), other.faults.begin(), other.faults.end());
  return *this;
}

bool report(std::string_view trial, std::string_view who, const Tally& tally) {
  std::printf("%-8s %-9s %6zu tried, %zu faults\n", std::string(trial).c_str(),
              std::string(who).c_str(), tally.trials, tally.faults.size());
  for (std::size_t i = 0; i < std::min(tally.faults.size(), kFaultsShown); ++i) {
    std::string line = tally.faults[i];
    std::ranges::replace(line, '\n', '|');
    std::printf("  %s\n", line.c_str());
  }
  (void)std::fflush(stdout);
  return tally.trials > 0 && tally.faults.empty();
}

}  // namespace reprise::rel
