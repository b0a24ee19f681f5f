#pragma once

// The full-screen program: several sessions at once. It puts together the terminal, the worker and
// the state, and carries events and effects between them.

#include "cli/app/update.h"
#include "cli/program/context.h"
#include "cli/settings/run_flags.h"

namespace reprise::cli::app {

struct AppRequest {
  RunFlags flags;
  std::filesystem::path mode_path;
  bool begin = false;  // --new
  Start start;
};

// Whether there is a terminal that can show a whole screen.
bool can_run_app(const Context& context);

// unsupported, before anything has happened, when the terminal turns out not to.
Result<Exit> run_app(Context& context, AppRequest request);

}  // namespace reprise::cli::app
