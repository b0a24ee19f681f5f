#pragma once

#include "history.h"

namespace reprise::rel {

// Lets every `stride`-th call of a backup of the whole life fail, in each of the tried ways. A
// successful backup is durable and shows the same as the store; a failed one leaves nothing that
// looks like a backup, and can be repeated.
Tally fail_backups(const History& history, std::int64_t stride);

}  // namespace reprise::rel
