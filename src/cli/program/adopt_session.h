#pragma once

// Going on with a session of another tool.

#include "cli/program/context.h"

namespace reprise::cli {

// For a SEL like "claude:SEL" (or "claude:", the newest one of this folder): the session comes into
// the store, a fork of it is begun, and the fork's id is returned. Any other SEL is returned as it
// is.
Result<std::string> adopt_session(Context& context, std::string sel);

}  // namespace reprise::cli
