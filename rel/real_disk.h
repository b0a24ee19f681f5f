#pragma once

// The power cut under writers on real file systems, and disks that are full. Needs root's rights.

#include <cstddef>

#include "history.h"
#include "life.h"

namespace reprise::rel {

// On ext4 and on XFS: four writers, the power cut at a random moment, `rounds` times each. When it
// is back, every message that was acknowledged is there once, each writer's in its order.
Tally cut_real_disks(const Kind& kind, std::size_t rounds);

}  // namespace reprise::rel
