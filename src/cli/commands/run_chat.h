#pragma once

// Starts a REPL from flags, for `chat` and `resume`.

#include "cli/process/exit.h"     // IWYU pragma: export
#include "cli/program/context.h"  // IWYU pragma: export
#include "cli/settings/run_flags.h"

namespace reprise::cli {

struct ChatRequest {
  RunFlags flags = {};
  bool newest = false;                            // -c
  bool fresh = false;                             // --new
  std::optional<std::string> sel = std::nullopt;  // -r SEL
  bool choose = false;                            // choose from the menu
  bool all = false;                               // the menu lists sessions of all folders
  bool plain = false;                             // line by line, even on a terminal
  std::filesystem::path mode_path = {};
};

Result<Exit> run_chat(Context& context, ChatRequest request);

}  // namespace reprise::cli
