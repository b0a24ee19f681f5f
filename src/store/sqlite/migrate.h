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
  previous,  // version 1: ours but for the slots
  current,
};

// unsupported for another program's database and for one of a newer version.
Result<Shape> shape_of(Connection& connection);

// Makes a database current, one that was not empty after a copy beside it. Called alone under the
// writer's lock; does nothing when another process was faster.
Result<> make_current(Connection& connection);

// Makes it one with a log; nothing when it is one. Called as make_current(). Somebody who reads
// puts it off to the next time that the database is opened.
Result<> begin_log(Connection& connection);

// Marks a database that has our tables as current.
Result<> set_version(Connection& connection);

// Lets a connection read a database of an older shape through temporary views that have all
// columns.
Result<> show_as_current(Connection& connection, Shape shape);

// reprise_us(x): microseconds since 1970 of a stored date-time, NULL for what is none.
Result<> add_time_function(Connection& connection);

}  // namespace reprise::sqlite
