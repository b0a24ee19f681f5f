#pragma once

// The program as a function.

#include <vector>

#include "cli/process/exit.h"
#include "cli/process/output.h"
#include "cli/process/process_environment.h"

namespace reprise::cli {

// `words` is the command line without the program's name. Flushes both outputs.
Exit run_program(const std::vector<std::string>& words, const ProcessEnvironment& environment,
                 Output& out, Output& err);

}  // namespace reprise::cli
