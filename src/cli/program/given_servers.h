#pragma once

// The servers on this machine that its user gave in a store: by a flag, the settings or a variable,
// or that were found and used. A session goes back to such a server; one that only a session names
// may be anybody's idea. Stored in `$XDG_STATE_HOME/reprise/given_servers/`, a file each, with mode
// 0600.

#include <filesystem>
#include <string>

#include "reprise/types.h"

namespace reprise::cli {

struct GivenServer {
  std::filesystem::path state_folder;
  std::string store_url;
  std::string base_url;  // without secrets
};

// Also false if the file cannot be read.
bool was_given(const GivenServer& server);

// Writes nothing if it was given before.
Result<> remember_given(const GivenServer& server);

}  // namespace reprise::cli
