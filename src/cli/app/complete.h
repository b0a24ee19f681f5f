#pragma once

// What Tab makes of an input: commands, their words, open sessions, models. Pure.

#include "cli/app/state.h"  // IWYU pragma: export

namespace reprise::cli::app {

struct Completion {
  std::string text;                     // the input with all that is certain
  std::vector<std::string> candidates;  // when there are several
};

// `text` is what stands before the cursor. Unchanged when nothing fits.
Completion complete(const State& state, std::string_view text);

}  // namespace reprise::cli::app
