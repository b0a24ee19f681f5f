#pragma once

// Whether a tool may run. Those that only read (within the session's folder and the store) always
// may; for the others the person is asked, and where nobody can be asked they need --yes.

#include <string_view>

#include "cli/program/context.h"
#include "reprise/tool.h"

namespace reprise::cli {

// Whether a tool of ours changes nothing.
bool only_reads(std::string_view tool);

// `context` must outlive it.
Approver ask_for_consent(Context& context);

}  // namespace reprise::cli
