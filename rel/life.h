#pragma once

// The life that a store leads in the trials: a fixed sequence of steps, each one call that must
// happen whole or not at all, and what can be seen of the store after each.

#include "reprise/open_store.h"

namespace reprise::rel {

struct Kind {
  std::string name;  // of the store, as in its URL
  std::function<Result<std::unique_ptr<Store>>(const std::filesystem::path& folder,
                                               const StoreOptions& options)>
      open;
};
// Every store that keeps its sessions in files.
const std::vector<Kind>& kinds();

// The URLs of one store of each of these kinds in a folder, in the same order.
std::vector<std::string> trial_urls(const std::filesystem::path& folder);

struct LifeStep {
  std::string name;
  std::function<Result<>(Store&)> run;
  bool on_disk = true;     // it survives a power cut when it has returned, not only a kill
  bool repeatable = true;  // doing it again changes nothing
};

// As long as the store can hold it. `store` is asked what that is, and not changed.
std::vector<LifeStep> life(Store& store);

// What can be seen of a store, as text; the same for two stores that hold the same.
struct Snapshot {
  std::string lasting;  // what must survive a power cut
  std::string running;  // answers that are running, and artefacts that grow
  std::string damage;   // a line for each part that could not be read
  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};
Result<Snapshot> take_snapshot(Store& store);
bool has_session(const Snapshot& seen);

}  // namespace reprise::rel
