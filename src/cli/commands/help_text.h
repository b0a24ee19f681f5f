#pragma once

// The texts of `--help`, generated from the tables.

#include "cli/commands/command.h"  // IWYU pragma: export

namespace reprise::cli {

std::string version_line();

// "reprise ask [OPTION]… [PROMPT]…"
std::string synopsis(std::string_view command, const ArgumentTable& table);

// The output of `reprise help`; fits an 80x24 terminal including the prompt.
std::string program_help(std::span<const CommandEntry> commands);
// Every command on its own line, and the global options.
std::string full_help(std::span<const CommandEntry> commands);
// The groups in the order of the help, with their descriptions.
struct GroupHelp {
  CommandGroup group;
  std::string_view heading;
};
std::span<const GroupHelp> command_groups();
// "  reprise list\n" for each example.
std::string example_lines(std::string_view examples);
std::string command_help(const CommandEntry& entry, const ArgumentTable& table);

}  // namespace reprise::cli
