#pragma once

// What could not be saved on a server is kept in spill files of this machine until `reprise copy`
// brings it in (docs/formats/spill.md).

#include <filesystem>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "cli/program/context.h"
#include "cli/settings/settings.h"
#include "reprise/error.h"
#include "reprise/spill.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"

namespace reprise::cli {

// For a conversation in the store of the settings. Null for a store that is no server's, and with
// the setting `spill = false`.
std::unique_ptr<Spill> make_spill(const Context& context, const Settings& settings);

// Says so when there is something for this store, unless its writer is still at it.
void remark_on_spills(Context& context, std::string_view store_url);

// Files of this machine that hold steps of these sessions.
std::vector<Remnant> find_spilled(const Context& context, const std::vector<SessionId>& sessions);

// What this machine has of the sessions of a store that is away, in memory.
struct HeldSessions {
  std::unique_ptr<Store> store;
  std::map<SessionId, Seq> begin;  // the place in its session of each one's first message
};
// What cannot be read is left out with a warning, and what its writer is still at without one.
Result<HeldSessions> held_sessions(Context& context, std::string_view store_url);

// "spill:FILE", "spill:FOLDER", or "spill:" for the usual folder, where only what belongs to the
// store at `target` is meant. invalid_argument when there is none.
Result<std::vector<std::filesystem::path>> find_named_spills(Context& context, std::string_view url,
                                                             std::string_view target);

}  // namespace reprise::cli
