#pragma once

#include <cstddef>

#include "history.h"
#include "life.h"
#include "tally.h"

namespace reprise::rel {

// Cuts the power `states` times, at moments spread over a whole life, each time with another part
// of what was not synced arriving: afterwards all steps that were acknowledged are there, and what
// is there is what the life went through.
Tally cut_the_power(const History& history, std::size_t states);

// The same where the log of a database has grown long, goes into it and begins anew.
Tally cut_the_power_on_a_long_log(const Kind& kind, std::size_t states);

}  // namespace reprise::rel
