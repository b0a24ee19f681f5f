#pragma once

#include "life.h"
#include "tally.h"

namespace reprise::rel {

// Runs the life of the store, migrates the golden ones, backs up, repairs, and writes beside
// damaged files, without faults: when a call has returned, all lasting data must be synced, and
// every file and folder must be created private, whatever the umask.
Tally leave_nothing_unsynced(const Kind& kind);

}  // namespace reprise::rel
