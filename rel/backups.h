#pragma once

#include "history.h"

namespace reprise::rel {

// Lets every `stride`-th call that a backup of the whole life makes fail, in each way that is tried
// there. One that says it is done is on the disk and shows all that the store shows; one that
// failed has put nothing there that could be taken for one, and can be made again.
Tally fail_backups(const History& history, std::int64_t stride);

}  // namespace reprise::rel
