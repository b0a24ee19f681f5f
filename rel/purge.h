#pragma once

// Purges beside others.

#include "life.h"
#include "tally.h"

namespace reprise::rel {

// One process puts what is large and names it later; between the two another one purges sessions
// that named the same, and some that did not. Nothing that anybody names is missing then, and no
// word of what was purged stands in a file of the store.
Tally purge_beside_others(const Kind& kind);

}  // namespace reprise::rel
