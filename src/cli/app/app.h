#pragma once

// The full-screen program with several sessions. Connects the terminal, the worker and the state,
// and passes events and effects between them.

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

// Whether there is a terminal that supports a full screen.
bool can_run_app(const Context& context);

// unsupported, without side effects, if the terminal turns out to be unsuitable.
Result<Exit> run_app(Context& context, AppRequest request);

}  // namespace reprise::cli::app
