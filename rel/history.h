#pragma once

// A life without any fault: what every trial is measured by.

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
  // Lives it in `work`/now, and keeps what the folder held before each step and at the end.
  // Throws when a step fails: then there is nothing to measure by.
  History(const Kind& kind, const std::filesystem::path& work);

  const Kind& kind() const { return kind_; }
  // Where every trial takes place: stores may remember where they are.
  const std::filesystem::path& place() const { return place_; }
  const std::vector<LifeStep>& steps() const { return steps_; }
  // After so many steps.
  const Snapshot& seen(std::size_t steps) const { return seen_.at(steps); }
  // After `first` steps, or one more, up to `last`.
  std::span<const Snapshot> seen(std::size_t first, std::size_t last) const {
    return std::span(seen_).subspan(first, last - first + 1);
  }
  // Makes place() what it was then.
  void set_back_to(std::size_t steps) const;

 private:
  std::filesystem::path saved_copy(std::size_t steps) const;
  void keep(std::size_t steps);

  const Kind& kind_;
  std::filesystem::path work_;
  std::filesystem::path place_;
  std::vector<LifeStep> steps_;
  std::vector<Snapshot> seen_;
};

struct Leniency {
  bool ignores_running = false;  // answers that run and artefacts that grow are not compared
  bool allows_damage = false;    // what nobody was told of may have come as rubbish
};

// What is wrong with the store at `place`, in one line; "" when it shows one of what is allowed,
// takes one more message and finds no damage in itself. What came last may always be cut.
std::string examine(const Kind& kind, const std::filesystem::path& place,
                    std::span<const Snapshot> allowed, Leniency leniency = {});

}  // namespace reprise::rel
