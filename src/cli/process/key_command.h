#pragma once

// Runs the commands that print a key or a password.

#include <string>       // IWYU pragma: export
#include <string_view>  // IWYU pragma: export

#include "reprise/error.h"  // IWYU pragma: export

namespace reprise::cli {

// The output of a key command without the newline. Its standard input and error are inherited.
// Reads until the shell has ended, even if a process that it started has not. cancelled once
// interrupt_token() is stopped; the shell is killed then.
Result<std::string> run_key_command(const std::string& command,
                                    std::string_view setting = "key_command");

}  // namespace reprise::cli
