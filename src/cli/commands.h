#pragma once

// The table of all commands.

#include <memory>
#include <span>
#include <string_view>

#include "cli/command.h"

namespace reprise::cli {

std::span<const CommandEntry> all_commands();
const CommandEntry* find_command(std::string_view name);

// Each is defined in its own file.
std::unique_ptr<Command> make_ask();
std::unique_ptr<Command> make_chat();
std::unique_ptr<Command> make_help();
std::unique_ptr<Command> make_list();
std::unique_ptr<Command> make_resume();
std::unique_ptr<Command> make_show();

}  // namespace reprise::cli
