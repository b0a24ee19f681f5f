#pragma once

// Whether a tool may run. Those that only read (within the session's folder and the store) always
// may; for the others the person is asked, and where nobody can be asked they need --yes.

#include "cli/program/context.h"
#include "reprise/tool.h"

namespace reprise::cli {

// Whether a tool of ours changes nothing.
bool only_reads(std::string_view tool);

// Whether tools may work in a folder that is neither that of the start nor below it: the person is
// asked, once. invalid_argument where nobody can be, without --yes.
Result<> allow_tools_in(Context& context, const std::filesystem::path& folder);

// `context` must outlive it.
Approver ask_for_consent(Context& context);

}  // namespace reprise::cli
