// rel_store TRIAL [STORE…]
//
// Tries what stores promise, and says how often and what was lost: one line for each store.
// Ends with 1 when anything was.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "history.h"
#include "kill_points.h"
#include "life.h"
#include "power_cut.h"
#include "trial.h"

namespace reprise::rel {
namespace {

constexpr std::size_t kFaultsShown = 50;
constexpr std::size_t kPowerCuts = 4000;

const std::map<std::string_view, std::function<Tally(const History&)>>& trials() {
  static const std::map<std::string_view, std::function<Tally(const History&)>> all = {
      {"kill", kill_at_every_change},
      {"errors", fail_at_every_call},
      {"power", [](const History& history) { return cut_the_power(history, kPowerCuts); }},
  };
  return all;
}

bool report(std::string_view trial, const Kind& kind, const Tally& tally) {
  std::printf("%-8s %-9s %6zu tried, %zu faults\n", std::string(trial).c_str(), kind.name.c_str(),
              tally.tried, tally.faults.size());
  for (std::size_t i = 0; i < std::min(tally.faults.size(), kFaultsShown); ++i) {
    std::printf("  %s\n", tally.faults[i].c_str());
  }
  std::fflush(stdout);
  return tally.tried > 0 && tally.faults.empty();
}

int run(const std::vector<std::string_view>& arguments) {
  if (arguments.empty() || !trials().contains(arguments.front())) {
    std::fputs("usage: rel_store kill|errors|power [STORE...]\n", stderr);
    return 64;
  }
  bool all_good = true;
  for (const Kind& kind : kinds()) {
    if (arguments.size() == 1 || std::ranges::find(arguments, kind.name) != arguments.end()) {
      const WorkFolder work;
      const History history(kind, work.path());
      all_good &= report(arguments.front(), kind, trials().at(arguments.front())(history));
    }
  }
  return all_good ? 0 : 1;
}

}  // namespace
}  // namespace reprise::rel

int main(int argc, char** argv) {
  try {
    return reprise::rel::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rel_store: %s\n", error.what());
    return 1;
  }
}
