#pragma once

// What a database file is, and how it becomes ours.

#include "reprise/types.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

enum class Shape : std::uint8_t {
  empty,
  original,  // written by the original program
  previous,  // ours, of before some migration
  current,
};

// unsupported for another program's database and for one of a newer version.
Result<Shape> shape_of(Connection& connection);

// Makes a database current, one that was not empty after a copy beside it. Called alone under the
// writer's lock; does nothing when another process was faster.
Result<> make_current(Connection& connection, Time now);

// Makes it one with a log; nothing when it is one. Called as make_current(). Somebody who reads
// puts it off to the next time that the database is opened.
Result<> begin_log(Connection& connection);

// Runs the migrations that change nothing that is there, in a database that could not be made
// current when it was opened.
Result<> ensure_additions(Connection& connection, Time now);

// Whether a table of this database has a column.
bool has_column(Connection& connection, std::string_view table, std::string_view column);

// Marks a database that has our tables as current.
Result<> set_version(Connection& connection);

// Lets a connection read a database of an older shape through temporary views that have all
// columns.
Result<> show_as_current(Connection& connection, Shape shape);

// reprise_us(x): microseconds since 1970 of a stored date-time, NULL for what is none.
Result<> add_time_function(Connection& connection);

}  // namespace reprise::sqlite
