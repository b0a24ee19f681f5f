#pragma once

// The candidates that the shells' completion scripts request with `reprise __complete`.

#include <string>
#include <vector>

#include "cli/commands/command.h"  // IWYU pragma: export

namespace reprise::cli {

struct Candidate {
  std::string text;  // the whole word
  std::string help = {};
};

// The candidates for the last word, which may be empty.
struct Completion {
  enum class ShellPaths : unsigned char { none, files, folders };
  std::vector<Candidate> candidates = {};
  ShellPaths shell_paths = ShellPaths::none;  // added by the shell itself
};

Completion complete_one_of(const std::vector<std::string_view>& texts);
Completion complete_providers(Context& context);
// The names after the last comma of the word.
Completion complete_tools(std::string_view word);
Completion complete_modes(Context& context);
// Other tools' histories.
Completion complete_histories();
Completion complete_stores(Context& context);
// Titles and short ids: this folder's newest sessions, and those of the whole store that begin with
// `prefix`. `entry` is the command, or null.
Completion complete_sessions(Context& context, const CommandEntry* entry, std::string_view prefix);

}  // namespace reprise::cli
