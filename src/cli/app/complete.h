#pragma once

// Tab completion of commands, their arguments, open sessions and models. Pure functions.

#include "cli/app/state.h"  // IWYU pragma: export

namespace reprise::cli::app {

struct Completion {
  std::string text;                     // the input with the unambiguous part added
  std::vector<std::string> candidates;  // if there are several
};

// `text` is the text before the cursor. Unchanged if nothing matches.
Completion complete(const State& state, std::string_view text);

}  // namespace reprise::cli::app
