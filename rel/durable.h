#pragma once

#include "life.h"
#include "tally.h"

namespace reprise::rel {

// Leads the life of the store, takes over the golden ones, backs up, repairs, and writes beside
// damaged files, without a fault: nothing that lasts may be unsynced when a call has returned, and
// every file and folder must be private from the moment it is made, whatever the umask.
Tally leave_nothing_unsynced(const Kind& kind);

}  // namespace reprise::rel
