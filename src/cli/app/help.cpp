#include <algorithm>

#include "base/text.h"
#include "cli/app/keys.h"
#include "cli/app/update.h"
#include "cli/repl/slash.h"

namespace reprise::cli::app {
namespace {

// The minimum width for tables with one line per entry.
constexpr std::size_t kColumnsForTable = 118;

// For screens too narrow for two columns.
std::string narrow_help() {
  std::string out;
  for (const SlashCommand& command : slash_commands(Surface::screen)) {
    out += cat(command.name, command.arguments.empty() ? "" : " ", command.arguments, ": ",
               command.help, "\n");
  }
  out += "\n";
  for (const KeyBinding& binding : key_bindings()) {
    out += cat(binding.shown.empty() ? binding.keys : binding.shown, ": ", binding.help, "\n");
  }
  return out;
}

}  // namespace

std::string app_help(std::size_t columns) {
  if (columns < kColumnsForTable) {
    return narrow_help();
  }
  std::string out = slash_help(Surface::screen);
  out += "\n";
  for (const KeyBinding& binding : key_bindings()) {
    std::string keys(binding.shown.empty() ? binding.keys : binding.shown);
    keys.resize(std::max<std::size_t>(keys.size(), 24), ' ');
    out += cat("  ", keys, "  ", binding.help, "\n");
  }
  return out;
}

}  // namespace reprise::cli::app
