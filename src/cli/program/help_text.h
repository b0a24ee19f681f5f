#pragma once

// `--help`, made from the tables.

#include <span>
#include <string>
#include <string_view>

#include "cli/commands/command.h"
#include "cli/program/arguments.h"

namespace reprise::cli {

std::string version_line();

// "reprise ask [OPTION]… [PROMPT]…"
std::string synopsis(std::string_view command, const ArgumentTable& table);

std::string program_help(std::span<const CommandEntry> commands);
std::string command_help(const CommandEntry& entry, const ArgumentTable& table);

}  // namespace reprise::cli
