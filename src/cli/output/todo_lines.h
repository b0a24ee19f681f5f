#pragma once

#include "reprise/session.h"

namespace reprise::cli {

// One line per todo, numbered from 1 and sanitized for terminals: "2. [x] text". "" for none.
std::string todo_lines(const std::vector<Todo>& todos);

}  // namespace reprise::cli
