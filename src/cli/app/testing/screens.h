#pragma once

// For tests: all screens of the program.

#include "cli/app/state.h"

namespace reprise::cli::app {

struct NamedScreen {
  std::string_view name;
  std::function<State(Size)> make;
};

// Screens of sessions, and of the picker.
std::vector<NamedScreen> session_screens();
std::vector<NamedScreen> picker_screens();

}  // namespace reprise::cli::app
