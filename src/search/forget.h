#pragma once

// Removes messages from the index. The caller must hold the lock.

#include <chrono>    // IWYU pragma: export
#include <expected>  // IWYU pragma: export
#include <span>

#include "reprise/error.h"            // IWYU pragma: export
#include "search/index_file.h"        // IWYU pragma: export
#include "store/sqlite/connection.h"  // IWYU pragma: export

namespace reprise::search {

// Call in a transaction: marks the messages of a session as dead. Their words remain in the shards,
// which are dropped once most of their documents are dead.
Result<> mark_dead(sqlite::Connection& db, std::int64_t session);

// Drops all shards with messages of these sessions, and the sessions' rows; messages of other
// sessions in those shards become pending. No byte of them remains in the file. busy if the log
// could not be truncated.
Result<> forget_sessions(IndexFile& index, std::span<const std::int64_t> sessions);

}  // namespace reprise::search
