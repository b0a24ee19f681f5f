#pragma once

// Taking messages out of the index. All functions are called under the lock.

#include <span>

#include "search/index_file.h"

namespace reprise::search {

// In a transaction: the messages of a session count no more. Their words stay in the shards, which
// are dropped once most of what they hold is dead.
Result<> bury(sqlite::Connection& db, std::int64_t session);

// Drops all shards with messages of these sessions, and their rows; the other sessions' messages in
// those shards are pending then. Not a byte of them is left in the file. busy when the rest could
// not be cleaned out of the log.
Result<> forget_sessions(IndexFile& index, std::span<const std::int64_t> sessions);

}  // namespace reprise::search
