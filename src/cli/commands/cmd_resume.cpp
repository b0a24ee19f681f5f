// reprise resume: continues an earlier conversation.

#include "cli/commands/command.h"
#include "cli/commands/run_chat.h"
#include "cli/settings/run_flags.h"

namespace reprise::cli {
namespace {

class Resume final : public Command {
 public:
  ArgumentTable arguments() override {
    ArgumentTable table{
        .options = {{"-a,--all", "", "choose from the sessions of all folders", &all_},
                    {"--plain", "", "work line by line, even on a terminal", &plain_}},
        .arguments = {{"SEL", "the session; a menu if left out", &sel_}}};
    add_run_flags(table, flags_);
    return table;
  }

  Result<Exit> run(Context& context) override {
    ChatRequest request{
        .flags = flags_, .sel = sel_, .choose = !sel_, .all = all_, .plain = plain_};
    return run_chat(context, std::move(request));
  }

 private:
  RunFlags flags_;
  std::optional<std::string> sel_;
  bool all_ = false;
  bool plain_ = false;
};

}  // namespace

std::unique_ptr<Command> make_resume() {
  return std::make_unique<Resume>();
}

}  // namespace reprise::cli
