#pragma once

// Power cuts with active writers on real file systems. Needs root.

#include <cstddef>

#include "history.h"
#include "life.h"

namespace reprise::rel {

// On ext4 and on XFS: four writers, a power cut at a random time, `rounds` times each. Afterwards,
// every acknowledged message exists once, those of each writer in order.
Tally cut_real_disks(const Kind& kind, std::size_t rounds);

}  // namespace reprise::rel
