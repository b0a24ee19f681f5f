#pragma once

// The tables of slash commands in the manuals.

#include "base/text.h"
#include "cli/repl/slash.h"

namespace reprise::cli {

inline std::string slash_help_markdown() {
  std::string out = "| command | does |\n|---|---|\n";
  for (const SlashCommand& command : slash_commands()) {
    std::string arguments;
    for (const char c : command.arguments) {
      arguments += c == '|' ? "\\|" : std::string(1, c);
    }
    out += cat("| `", command.name, arguments.empty() ? "" : " ", arguments, "` | ", command.help,
               " |\n");
  }
  return out;
}

}  // namespace reprise::cli
