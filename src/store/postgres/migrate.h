#pragma once

// Migrates the tables while programs of this version and the previous one continue to write: new
// tables and columns come first, rows are changed in batches, each in its own transaction, and a
// lock is waited for only briefly, again and again, because others queue behind it.

#include <functional>
#include <string_view>

#include "reprise/error.h"
#include "store/postgres/connection.h"
#include "store/postgres/schema.h"

namespace reprise::postgres {

enum class Trial : std::uint8_t { no, yes };  // yes: a dry run

// For an administrator; builds indexes concurrently. Reports each step before it is executed, and
// what it waits for. Can be repeated after an interruption.
Result<> migrate_online(Connection& connection, Trial trial,
                        const std::function<void(std::string_view)>& on_step);

// When a program opens the tables: creates or adds what writing requires and, if there are few
// rows, does the rest as far as nothing is in the way. What large tables lack is left to
// migrate_online(). Waits for locks until `deadline`. Returns what there is now; busy if a needed
// column could not be added.
Result<TablesVersion> make_current(Connection& connection, const TablesVersion& now,
                                   Deadline deadline);

}  // namespace reprise::postgres
