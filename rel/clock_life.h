#pragma once

#include "history.h"

namespace reprise::rel {

// Leads the store's life with clocks that are wrong in every way: nothing that can be seen of it
// differs, whatever the clock showed.
Tally live_under_clocks(const History& history);

}  // namespace reprise::rel
