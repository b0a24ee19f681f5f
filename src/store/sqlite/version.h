#pragma once

// Which SQLite runs.

#include <string_view>

namespace reprise::sqlite {

std::string_view version();  // "3.40.1"

// Whether this version can damage a database in WAL mode when one process checkpoints while
// another one restarts the log (before 3.51.3, 3.50.7 and 3.44.6). This store's own lock keeps its
// processes apart; other programs that write to the same file do not know it.
bool has_wal_reset_fault();

}  // namespace reprise::sqlite
