#pragma once

// Full disks.

#include "history.h"
#include "life.h"

namespace reprise::rel {

// A store on a disk without free bytes (tmpfs, ext4), without free inodes, and with a limit of the
// file size: everything can be read and copied elsewhere, writes fail or succeed properly, sessions
// can be deleted; and with free space, the store is usable again. Needs root.
Tally fill_disks(const Kind& kind);

}  // namespace reprise::rel
