#pragma once

// The sessions that chats of this user have open, in this process and in others. Each is a file in
// `$XDG_STATE_HOME/reprise/open/`, which is locked as long as the session is open; what a killed
// process left is not, and goes with the next look.

#include "base/file.h"
#include "reprise/types.h"

namespace reprise::cli {

struct OpenSession {
  std::string store_url;  // ProgramConfig::absolute_url()
  SessionId id;
  std::string folder;  // SessionInfo::working_dir
};

// The session is open until the result is destroyed.
Result<TemporaryFile> mark_open(const std::filesystem::path& state_folder,
                                const OpenSession& session);

// Those of the store.
Result<std::vector<OpenSession>> find_open_sessions(const std::filesystem::path& state_folder,
                                                    std::string_view store_url);

}  // namespace reprise::cli
