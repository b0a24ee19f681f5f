#pragma once

// The todos of a session as lines: beside the transcript or below it. Pure.

#include "cli/app/style.h"
#include "reprise/session.h"

namespace reprise::cli::app {

// At most `rows` lines of at most `columns` columns, with what is in progress among them. Empty
// for no todos or no room.
std::vector<Line> todo_panel(const std::vector<Todo>& todos, std::size_t rows, std::size_t columns);

}  // namespace reprise::cli::app
