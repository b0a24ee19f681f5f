// reprise completions: prints a completion script for a shell.

#include "cli/commands/command.h"
#include "cli/commands/completions.h"

namespace reprise::cli {
namespace {

class Completions final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {},
            .arguments = {{"SHELL", "bash, zsh or fish", &shell_, true, {"bash", "zsh", "fish"}}}};
  }

  Result<Exit> run(Context& context) override {
    if (shell_ == "bash") {
      context.console().out().write(bash_completions());
    } else if (shell_ == "zsh") {
      context.console().out().write(zsh_completions());
    } else {
      context.console().out().write(fish_completions());
    }
    return Exit::done;
  }

 private:
  std::string shell_;
};

}  // namespace

std::unique_ptr<Command> make_completions() {
  return std::make_unique<Completions>();
}

}  // namespace reprise::cli
