#pragma once

#include <cstdint>

#include "history.h"

namespace reprise::rel {

// Stores of all formats ever written are read without changes, migrated, and continued; a kill at
// any change loses and duplicates nothing.
Tally take_over(const Kind& kind);

// Copies a whole store into one of this kind with a kill at every `stride`-th change, and copies
// again: the result must be the same as without the kill.
Tally copy_and_die(const Kind& kind, std::int64_t stride);

}  // namespace reprise::rel
