#pragma once

// The order of the last shown list, so that "2" means what the person saw. Kept 0600 in
// `$XDG_STATE_HOME/reprise/last-list.json`, for each store by itself.

#include <filesystem>
#include <vector>

#include "reprise/types.h"

namespace reprise::cli {

Result<> save_last_list(const std::filesystem::path& state_folder, std::string_view store_url,
                        const std::vector<SessionId>& ids);

// Empty when there is none, it is of another store, or it cannot be read: then there are no
// numbers to choose by.
std::vector<SessionId> load_last_list(const std::filesystem::path& state_folder,
                                      std::string_view store_url);

}  // namespace reprise::cli
