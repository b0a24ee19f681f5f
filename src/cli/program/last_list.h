#pragma once

// The ids of the last list shown, so that "2" means the second session on screen: per store, folder
// and terminal. Stored in `$XDG_STATE_HOME/reprise/lists/`, a file each, with mode 0600.

#include <filesystem>
#include <vector>

#include "reprise/types.h"

namespace reprise::cli {

struct LastListKey {
  std::filesystem::path state_folder;
  std::string store_url;
  std::string folder;
};

struct LastList {
  std::vector<SessionId> ids;
  Time shown_at;
};

// Whether numbers may no longer select sessions to change: the list is more than a day old, or from
// the future because the clock was set back.
bool is_old(const LastList& list, Time now);

Result<> save_last_list(const LastListKey& key, const LastList& list);

// nullopt if no list was shown here or it cannot be read; then numbers do not work.
std::optional<LastList> load_last_list(const LastListKey& key);

}  // namespace reprise::cli
