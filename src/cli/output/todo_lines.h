#pragma once

#include "reprise/session.h"

namespace reprise::cli {

// A line for each, numbered from 1 and safe for a terminal: "2. [x] text". Empty for none.
std::string todo_lines(const std::vector<Todo>& todos);

}  // namespace reprise::cli
