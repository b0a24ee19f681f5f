#pragma once

// The line editor, on libedit: history, several lines in one message, a paste as one message.
//
//   Enter            sends; adds a line after a backslash or inside an open ``` fence
//   Alt-Enter        adds a line
//   Ctrl-C           gives up what was typed
//   Ctrl-D           leaves, on an empty line
//   Up, Down, Ctrl-R earlier messages

#include <memory>

#include "cli/repl/line_source.h"
#include "reprise/error.h"

namespace reprise::cli {

// On standard input and standard error, both of which must be a terminal that can move its cursor.
// unsupported where libedit is missing or does not know the terminal.
Result<std::unique_ptr<LineSource>> make_edit_source();

}  // namespace reprise::cli
