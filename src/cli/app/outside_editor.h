#pragma once

// A text edited with the person's own editor.

#include <functional>

#include "cli/program/process_environment.h"
#include "reprise/error.h"

namespace reprise::cli::app {

// Runs $VISUAL, $EDITOR or vi on a file with the text, and returns what that leaves, without the
// line end at the end. The terminal must be free. While the editor runs, `meanwhile` is called
// whenever `fd` is readable.
Result<std::string> edit_text(const ProcessEnvironment& environment, const std::string& text,
                              int fd, const std::function<void()>& meanwhile);

}  // namespace reprise::cli::app
