#pragma once

// What `chat` and `resume` share: from flags to a running REPL.

#include "cli/program/context.h"
#include "cli/program/exit.h"
#include "cli/settings/run_flags.h"

namespace reprise::cli {

struct ChatRequest {
  RunFlags flags = {};
  bool newest = false;                            // -c
  bool fresh = false;                             // --new
  std::optional<std::string> sel = std::nullopt;  // -r SEL
  bool choose = false;                            // by the menu
  bool all = false;                               // the menu has the sessions of all folders
  bool plain = false;                             // line by line, also on a terminal
  std::filesystem::path mode_path = {};
};

Result<Exit> run_chat(Context& context, ChatRequest request);

}  // namespace reprise::cli
