#pragma once

// The setting `retention`: sessions closed longer ago go to the trash when a talk begins.
//
// A clock that leaps must not clear anything away: how long ago something was closed is believed
// only while the time that passes between two talks is plausible. It is not when the machine, still
// running, has counted more than an hour less or more, when it has gone back, and when more than
// the retention itself has passed, of which nobody can say whether it has. From then on nothing is
// moved until as much time has passed plausibly.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "cli/program/context.h"
#include "cli/settings/settings.h"
#include "reprise/store.h"
#include "reprise/types.h"

namespace reprise::cli {

struct Moment {
  Time time;         // what the clock says
  std::string boot;  // names the time since the machine was started
  std::int64_t uptime_s = 0;
};

// Whether sessions may be moved for having been closed more than `age` ago. Remembers the moment in
// the folder; one that remembers nothing believes. Without a folder to remember in, too.
bool is_believable(const std::filesystem::path& state_folder, const Moment& now,
                   std::chrono::hours age);

// What is wrong is said, and no reason not to talk.
void clean_up(Context& context, Store& store, const Settings& settings);

}  // namespace reprise::cli
