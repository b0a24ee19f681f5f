#pragma once

// The version of the SQLite library.

#include <string_view>

namespace reprise::sqlite {

std::string_view version();  // "3.40.1"

// Whether this version can damage a database in WAL mode if one process checkpoints while another
// one restarts the log (before 3.51.3, 3.50.7 and 3.44.6). Processes of this store are protected by
// its own lock, which other programs ignore.
bool has_wal_reset_fault();

}  // namespace reprise::sqlite
