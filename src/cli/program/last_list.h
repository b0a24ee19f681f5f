#pragma once

// The order of the last shown list, so that "2" means what the person saw: of this store, in this
// folder, in this terminal. Kept 0600 in `$XDG_STATE_HOME/reprise/lists/`, a file for each.

#include <filesystem>
#include <vector>

#include "reprise/types.h"

namespace reprise::cli {

struct ListPlace {
  std::filesystem::path state_folder;
  std::string store_url;
  std::string folder;
};

struct LastList {
  std::vector<SessionId> ids;
  Time shown_at;
};

// Its numbers name nothing that is to be changed: it was shown more than a day ago, or it comes
// from the future, as the clock was set back by we do not know how much.
bool is_old(const LastList& list, Time now);

Result<> save_last_list(const ListPlace& place, const LastList& list);

// nullopt when none was shown here, or it cannot be read: then there are no numbers to choose by.
std::optional<LastList> load_last_list(const ListPlace& place);

}  // namespace reprise::cli
