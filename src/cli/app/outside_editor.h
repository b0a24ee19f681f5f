#pragma once

// Edits a text with the user's editor.

#include <functional>

#include "cli/process/process_environment.h"
#include "reprise/error.h"

namespace reprise::cli::app {

// Runs $VISUAL, $EDITOR or vi on a file with the text, and returns the file's new content without
// the final line end. The terminal must have been given back. While the editor runs, calls
// `meanwhile` whenever `fd` is readable.
Result<std::string> edit_text(const ProcessEnvironment& environment, const std::string& text,
                              int fd, const std::function<void()>& meanwhile);

}  // namespace reprise::cli::app
