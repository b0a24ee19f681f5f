#pragma once

#include "history.h"

namespace reprise::rel {

// Runs the store's life with all kinds of wrong clocks: its visible state must not depend on the
// clock.
Tally live_under_clocks(const History& history);

}  // namespace reprise::rel
