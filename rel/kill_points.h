#pragma once

#include "calls.h"
#include "history.h"

namespace reprise::rel {

// For example, "short write, then ENOSPC for ever".
std::string describe(const Trap& trap);

// Kills the process at every change of each step, from opening to closing the store: afterwards,
// the step must be atomic, and done if it was acknowledged.
Tally kill_at_every_change(const History& history);

// Lets every `stride`-th call of each step fail, once or permanently, with EIO, ENOSPC and EDQUOT,
// or process only half of its bytes; of the delicate calls (CallCounts), every (stride / 4)-th
// fails once. A successful step must be done; a failed one must succeed when repeated without
// faults, and be executed once.
Tally fail_at_calls(const History& history, std::int64_t stride);

}  // namespace reprise::rel
