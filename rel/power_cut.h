#pragma once

#include <cstddef>

#include "history.h"
#include "life.h"
#include "tally.h"

namespace reprise::rel {

// Simulates `states` power cuts spread over a whole life, each with another part of the unsynced
// changes on the disk: afterwards, all acknowledged steps are done, and the state is one of the
// life.
Tally cut_the_power(const History& history, std::size_t states);

// The same while a long log is checkpointed and restarted.
Tally cut_the_power_on_a_long_log(const Kind& kind, std::size_t states);

}  // namespace reprise::rel
