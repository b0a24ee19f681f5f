#pragma once

// What a database file is, and how it becomes ours.

#include <cstdint>
#include <string>

#include "reprise/error.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

enum class Shape : std::uint8_t {
  empty,
  original,  // written by the original program
  current,
};

// unsupported for another program's database and for one of a newer version.
Result<Shape> shape_of(Connection& connection);

// Makes an empty or original database current, the latter after a copy beside it. Called alone
// under the writer's lock; does nothing when another process was faster.
Result<> make_current(Connection& connection);

// Marks a database that has our tables as current.
Result<> set_version(Connection& connection);

// Lets a connection read an original database through temporary views that have our columns.
Result<> show_original_as_current(Connection& connection);

// reprise_us(x): microseconds since 1970 of a stored date-time, NULL for what is none.
Result<> add_time_function(Connection& connection);

}  // namespace reprise::sqlite
