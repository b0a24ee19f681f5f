#pragma once

// A life without faults, the reference of all trials.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "life.h"
#include "tally.h"

namespace reprise::rel {

class History {
 public:
  // Runs the life in `work`/now, and saves the folder before each step and at the end. Throws if a
  // step fails.
  History(const Kind& kind, const std::filesystem::path& work);

  const Kind& kind() const { return kind_; }
  // The folder of all trials, since stores may depend on their path.
  const std::filesystem::path& location() const { return location_; }
  const std::vector<LifeStep>& steps() const { return steps_; }
  // The visible state after `steps` steps.
  const Snapshot& snapshot(std::size_t steps) const { return snapshots_.at(steps); }
  // The states after `first` to `last` steps.
  std::span<const Snapshot> snapshot(std::size_t first, std::size_t last) const {
    return std::span(snapshots_).subspan(first, last - first + 1);
  }
  // Restores location() to the state after `steps` steps.
  void restore(std::size_t steps) const;

 private:
  std::filesystem::path saved_copy(std::size_t steps) const;
  void save(std::size_t steps);

  const Kind& kind_;
  std::filesystem::path work_;
  std::filesystem::path location_;
  std::vector<LifeStep> steps_;
  std::vector<Snapshot> snapshots_;
};

struct Leniency {
  bool ignores_running = false;  // running answers and growing artefacts are not compared
  bool allows_damage = false;    // unacknowledged data may be damaged
};

// The fault of the store at `location`, in one line; "" if it shows one of the allowed states,
// accepts another message and finds no damage. The last line may always be truncated.
std::string examine(const Kind& kind, const std::filesystem::path& location,
                    std::span<const Snapshot> allowed, Leniency leniency = {});

}  // namespace reprise::rel
