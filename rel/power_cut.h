#pragma once

#include <cstddef>

#include "history.h"

namespace reprise::rel {

// Cuts the power `states` times, at moments spread over a whole life, each time with another part
// of what was not synced arriving: afterwards all steps that were acknowledged are there, and what
// is there is what the life went through.
Tally cut_the_power(const History& history, std::size_t states);

}  // namespace reprise::rel
