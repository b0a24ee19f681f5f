#pragma once

// What `chat` and `resume` share: from flags to a running REPL.

#include <stop_token>

#include "cli/program/context.h"  // IWYU pragma: export
#include "cli/program/exit.h"     // IWYU pragma: export
#include "cli/repl/line_source.h"
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

// Asks a person which session to resume, by number.

// nullopt when it was cancelled, or when there is nothing to choose from; that has been said.
// cancelled when it was stopped, invalid_argument after too many wrong answers.
// `all`: of all folders, not only this one.
Result<std::optional<SessionId>> choose_session(Context& context, LineSource& source, bool all,
                                                const std::stop_token& stop);

}  // namespace reprise::cli
