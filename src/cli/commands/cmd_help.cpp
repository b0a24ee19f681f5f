// reprise help [COMMAND]

#include <memory>

#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/program/commands.h"
#include "cli/program/context.h"
#include "cli/program/exit.h"
#include "cli/program/help_text.h"

namespace reprise::cli {
namespace {

class Help final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {}, .arguments = {{"COMMAND", "the command to explain", &command_}}};
  }

  Result<Exit> run(Context& context) override {
    if (!command_) {
      context.voice().out().write(program_help(all_commands()));
      return Exit::done;
    }
    const CommandEntry* const entry = find_command(*command_);
    if (entry == nullptr) {
      return context.voice().wrong_usage(cat("unknown command '", *command_, "'"));
    }
    const std::unique_ptr<Command> command = entry->make();
    context.voice().out().write(command_help(*entry, command->arguments()));
    return Exit::done;
  }

 private:
  std::optional<std::string> command_;
};

}  // namespace

std::unique_ptr<Command> make_help() {
  return std::make_unique<Help>();
}

}  // namespace reprise::cli
