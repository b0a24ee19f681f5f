// reprise help [COMMAND]

#include "cli/commands/help_text.h"

namespace reprise::cli {
namespace {

class Help final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {{"-a,--all", "", "every command and the options of all", &all_}},
            .arguments = {{"COMMAND", "the command to explain", &command_}}};
  }

  Result<Exit> run(Context& context) override {
    if (!command_) {
      context.console().out().write(all_ ? all_help(all_commands()) : program_help(all_commands()));
      return Exit::done;
    }
    const CommandEntry* const entry = find_command(*command_);
    if (entry == nullptr) {
      return context.console().wrong_usage(unknown_command(*command_));
    }
    const std::unique_ptr<Command> command = entry->make();
    context.console().out().write(command_help(*entry, command->arguments()));
    return Exit::done;
  }

 private:
  std::optional<std::string> command_;
  bool all_ = false;
};

}  // namespace

std::unique_ptr<Command> make_help() {
  return std::make_unique<Help>();
}

}  // namespace reprise::cli
