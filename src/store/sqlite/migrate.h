#pragma once

// The version of a database file, and its migration.

#include "reprise/types.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

enum class SchemaVersion : std::uint8_t {
  empty,
  original,  // written by the original program
  previous,  // ours, of an earlier version
  current,
};

// unsupported for the database of another program, or of a newer version.
Result<SchemaVersion> schema_version_of(Connection& connection);

// Migrates the database to the current version, after a copy beside it unless it was empty. The
// caller holds the writer's lock; does nothing if another process was faster.
Result<> make_current(Connection& connection, Time now);

// Switches the database to WAL mode, if it is not in it yet. Called like make_current(). A
// concurrent reader postpones this to the next time the database is opened.
Result<> enable_wal(Connection& connection);

// Runs the migrations that only add things, for a database that could not be migrated when it was
// opened.
Result<> ensure_additions(Connection& connection, Time now);

// Whether a table of this database has a column.
bool has_column(Connection& connection, std::string_view table, std::string_view column);

// Sets the version of a database with our tables to the current one.
Result<> set_version(Connection& connection);

// Lets a connection read a database of an older version through temporary views with all columns.
Result<> create_compatibility_views(Connection& connection, SchemaVersion schema);

// Registers reprise_us(x): the microseconds since 1970 of a stored date-time, NULL for other
// values.
Result<> add_time_function(Connection& connection);

}  // namespace reprise::sqlite
