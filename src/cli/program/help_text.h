#pragma once

// `--help`, made from the tables.

#include "cli/commands/command.h"  // IWYU pragma: export

namespace reprise::cli {

std::string version_line();

// "reprise ask [OPTION]… [PROMPT]…"
std::string synopsis(std::string_view command, const ArgumentTable& table);

// What `reprise help` shows: fits a terminal of 80 columns and 24 lines with its prompt.
std::string program_help(std::span<const CommandEntry> commands);
// Every command in a line of its own, and the options of all.
std::string all_help(std::span<const CommandEntry> commands);
// The groups in the order of help, with what they are for.
struct GroupHelp {
  CommandGroup group;
  std::string_view heading;
};
std::span<const GroupHelp> command_groups();
// "  reprise list\n" for each example.
std::string example_lines(std::string_view examples);
std::string command_help(const CommandEntry& entry, const ArgumentTable& table);

}  // namespace reprise::cli
