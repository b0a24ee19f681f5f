#pragma once

// Whether the clock may be believed, for retain_sessions().
//
// How long ago something was closed is believed only while the time that passes between two calls
// is plausible. It is not when the machine, still running, has counted more than an hour less or
// more, when it has gone back, and when more than the retention itself has passed, of which nobody
// can say whether it has. From then on nothing is moved until as much time has passed plausibly.

#include <filesystem>

#include "reprise/types.h"

namespace reprise {

struct Moment {
  Time time;         // what the clock says
  std::string boot;  // names the time since the machine was started
  std::int64_t uptime_s = 0;
};

// Whether sessions may be moved for having been closed more than `age` ago. Remembers the moment in
// the folder; one that remembers nothing believes. Without a folder to remember in, too.
bool is_believable(const std::filesystem::path& state_folder, const Moment& now,
                   std::chrono::hours age);

}  // namespace reprise
