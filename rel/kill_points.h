#pragma once

#include "calls.h"
#include "history.h"

namespace reprise::rel {

// "short write, then ENOSPC for ever"
std::string describe(const Trap& trap);

// Kills the process at every change that each step makes, from the opening of the store to its
// closing: afterwards the step has happened or not, and has if it was acknowledged.
Tally kill_at_every_change(const History& history);

// Lets every `stride`-th call of each step, in turn, fail once and for ever, with EIO, ENOSPC and
// EDQUOT, or take only half of what it is given; of the delicate calls (CallCounts), every fourth
// part of a stride fails once. A step that says it is done is done; one that failed can be done
// again as soon as nothing fails any more, and happens once.
Tally fail_at_calls(const History& history, std::int64_t stride);

}  // namespace reprise::rel
