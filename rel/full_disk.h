#pragma once

// Disks that are full.

#include "history.h"
#include "life.h"

namespace reprise::rel {

// A store on a disk with no byte left (tmpfs, ext4), with no file left, and one whose files may not
// grow: all of it is read and copied to elsewhere, a write says that it failed or happens, sessions
// can be deleted; and with room again all goes on. Needs root's rights.
Tally fill_disks(const Kind& kind);

}  // namespace reprise::rel
