#pragma once

// The version of a database file, and its migration.

#include <span>

#include "reprise/types.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/schema.h"

namespace reprise::sqlite {

enum class SchemaVersion : std::uint8_t {
  empty,
  original,  // written by the original program
  previous,  // ours, of an earlier version
  current,
};

// unsupported for the database of another program, of a newer version, or of a build before the
// first release.
Result<SchemaVersion> schema_version_of(Connection& connection,
                                        std::span<const Migration> steps = migrations());

// Migrates the database to the current version, after a copy beside it if its data changes. The
// caller holds the writer's lock; does nothing if another process was faster.
Result<> make_current(Connection& connection, Time now,
                      std::span<const Migration> steps = migrations());

// Switches the database to WAL mode, if it is not in it yet. Called like make_current(). A
// concurrent reader postpones this to the next time the database is opened.
Result<> enable_wal(Connection& connection);

// Sets the version of a database with our tables to the current one.
Result<> set_version(Connection& connection);

// Lets a connection read a database of the original program through temporary views with all
// columns.
Result<> create_original_views(Connection& connection);

// Registers reprise_us(x): the microseconds since 1970 of a stored date-time, NULL for other
// values.
Result<> add_time_function(Connection& connection);

}  // namespace reprise::sqlite
