#pragma once

#include <cstdint>

#include "history.h"

namespace reprise::rel {

// Stores of every format that was ever written are read without a change, taken over, and gone on
// with; and a kill at any change on the way loses and doubles nothing.
Tally take_over(const Kind& kind);

// Copies a whole store into one of this kind, is killed at every `stride`th change, and copies
// again: then all is there as if nothing had happened.
Tally copy_and_die(const Kind& kind, std::int64_t stride);

}  // namespace reprise::rel
