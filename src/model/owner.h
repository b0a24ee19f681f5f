#pragma once

// Process start times, which distinguish a process from a later one with the same pid.

#include <cstdint>
#include <optional>

namespace reprise {

// Clock ticks after boot, field 22 of /proc/<pid>/stat. 0 for a process that has ended, even if its
// parent has not reaped it. nullopt when that cannot be read.
std::optional<std::int64_t> started_ticks(std::int64_t pid);

}  // namespace reprise
