#pragma once

// The life of a store in the trials: a fixed sequence of steps, each one atomic call, and the
// visible state of the store after each.

#include <memory>

#include "reprise/open_store.h"
#include "reprise/store.h"

namespace reprise::rel {

struct Kind {
  std::string name;  // of the store, as in its URL
  std::function<Result<std::unique_ptr<Store>>(const std::filesystem::path& folder,
                                               const StoreOptions& options)>
      open;
};
// All stores that use files.
const std::vector<Kind>& kinds();

// The URLs of one store of each kind in a folder, in the same order.
std::vector<std::string> trial_urls(const std::filesystem::path& folder);

struct LifeStep {
  std::string name;
  std::function<Result<>(Store&)> run;
  bool on_disk = true;     // after returning, it survives a power cut, not only a kill
  bool repeatable = true;  // repeating it changes nothing
};

// The steps that the store supports. Uses only the capabilities of `store`.
std::vector<LifeStep> life(Store& store);

// A step in a separate process that is killed meanwhile.
struct Killed {
  bool is_done = false;  // the step had returned before the kill
  std::string fault;     // the step failed, or the process ended unexpectedly; "" otherwise
};

// `open` is called in that process and must arrange for its death.
Killed run_killed(const LifeStep& step,
                  const std::function<Result<std::unique_ptr<Store>>()>& open);

// The visible state of a store, as text; equal for stores with equal contents.
struct Snapshot {
  std::string lasting;  // what must survive a power cut
  std::string running;  // running answers, and growing artefacts
  std::string damage;   // a line for each part that could not be read
  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};
Result<Snapshot> take_snapshot(Store& store);
bool has_session(const Snapshot& snapshot);

}  // namespace reprise::rel
