#pragma once

// Decides whether to trust the clock, for apply_retention().
//
// Ages are trusted only while the time between two calls is plausible. It is implausible if the
// uptime of the machine differs from it by more than an hour, if it is negative, and, after a
// reboot, if it exceeds the retention period, since then it cannot be verified. After that nothing
// is moved until the same period has passed plausibly.

#include <filesystem>

#include "reprise/types.h"

namespace reprise {

struct ClockReading {
  Time time;         // the wall clock
  std::string boot;  // the id of the current boot
  std::int64_t uptime_s = 0;
};

// Whether sessions closed more than `age` ago may be moved. Records the reading in the folder;
// without an earlier record, or if none can be written, the clock is trusted.
bool is_clock_trusted(const std::filesystem::path& state_folder, const ClockReading& now,
                      std::chrono::hours age);

}  // namespace reprise
