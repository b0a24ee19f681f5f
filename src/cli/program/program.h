#pragma once

// The whole program as a function.

#include <vector>

#include "cli/output/output.h"
#include "cli/program/exit.h"
#include "cli/program/process_environment.h"

namespace reprise::cli {

// `words`: the command line without the program's name. Everything is flushed when it returns.
Exit run_program(const std::vector<std::string>& words, const ProcessEnvironment& environment,
                 Output& out, Output& err);

}  // namespace reprise::cli
