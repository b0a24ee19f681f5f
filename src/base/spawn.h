#pragma once

// Starts shell commands of the user.

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "reprise/error.h"

namespace reprise {

struct ShellCommand {
  std::string line;
  std::string argument = {};          // $1
  std::filesystem::path folder = {};  // to run in; empty: the current one
  int input = -1;                     // standard input and output; -1: inherited
  int output = -1;
  bool is_group_leader = false;
};

// Starts /bin/sh with no signal blocked, and with the default action for those that Reprise
// ignores.
Result<pid_t> start_shell(const ShellCommand& command);

// Waits until the child has ended, and returns its status; 0 if that is unknown because SIGCHLD is
// ignored.
int wait_for(pid_t child);

}  // namespace reprise
