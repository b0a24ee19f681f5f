#include "cli/commands.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "cli/command.h"

namespace reprise::cli {
namespace {

constexpr CommandEntry kCommands[] = {
    {.name = "help",
     .summary = "explain the program or one command",
     .description = "Without COMMAND the commands are listed.",
     .make = make_help},
};

}  // namespace

std::span<const CommandEntry> all_commands() {
  return kCommands;
}

const CommandEntry* find_command(std::string_view name) {
  const auto* const found = std::ranges::find(kCommands, name, &CommandEntry::name);
  return found == std::end(kCommands) ? nullptr : found;
}

}  // namespace reprise::cli
