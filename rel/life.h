#pragma once

// The life that a store leads in the trials: a fixed sequence of steps, each one call that must
// happen whole or not at all, and what can be seen of the store after each.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reprise/error.h"
#include "reprise/open_store.h"
#include "reprise/session.h"
#include "reprise/store.h"

namespace reprise::rel {

struct Kind {
  std::string name;  // of the store, as in its URL
  std::function<Result<std::unique_ptr<Store>>(const std::filesystem::path& folder,
                                               const StoreOptions& options)>
      open;
};
// Every store that keeps its sessions in files.
const std::vector<Kind>& kinds();

struct LifeStep {
  std::string name;
  std::function<Result<>(Store&)> run;
  bool on_disk = true;     // it survives a power cut when it has returned, not only a kill
  bool repeatable = true;  // doing it again changes nothing
};

// As long as the store can hold it. `store` is asked what that is, and not changed.
std::vector<LifeStep> life(Store& store);

// What can be seen of a store, as text; the same for two stores that hold the same.
struct Seen {
  std::string lasting;  // what must survive a power cut
  std::string running;  // answers that are running, and artefacts that grow
  std::string damage;   // a line for each part that could not be read
  friend bool operator==(const Seen&, const Seen&) = default;
};
Result<Seen> look(Store& store);
bool has_session(const Seen& seen);

// One more message to the session that is always there, to see that the store still takes one.
Result<> add_one_more(Store& store);
bool has_one_more(const Seen& seen);

// Every session goes for good, where sessions can.
Result<> purge_all(Store& store);

// For several writers: a session whose messages have names, in the order they stand in it.
Result<> create_named(Store& store);
Result<> add_named(Store& store, const std::string& name, std::size_t bytes);
Result<std::vector<std::string>> names_in(Store& store);

// A turn for any session: once, however often it is done.
Result<> add_turn(Store& store, const SessionId& id);

}  // namespace reprise::rel
