#pragma once

// What requests have taught about servers, kept for later processes: a file of mode 0600 for each
// server and model in `$XDG_STATE_HOME/reprise/servers/`. They may be deleted at any time.

#include <filesystem>

#include "reprise/conversation.h"

namespace reprise::cli {

std::unique_ptr<ServerNotes> make_server_notes(std::filesystem::path folder);

}  // namespace reprise::cli
