#pragma once

// Completion scripts, made from the table of commands.

#include <span>
#include <string>

#include "cli/commands/command.h"

namespace reprise::cli {

std::string bash_completions(std::span<const CommandEntry> commands);
std::string zsh_completions(std::span<const CommandEntry> commands);
std::string fish_completions(std::span<const CommandEntry> commands);

}  // namespace reprise::cli
