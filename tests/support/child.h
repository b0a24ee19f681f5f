#pragma once

// Child processes that run parts of tests and can be killed.

#include <sys/types.h>

#include <functional>

namespace reprise::test {

// Runs `work` in a child process, which exits without running the parent's tests and exit handlers.
pid_t in_child(const std::function<int()>& work);
int exit_code_of(pid_t child);

}  // namespace reprise::test
