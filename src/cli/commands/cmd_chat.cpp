// reprise chat: a conversation, turn after turn.

#include <memory>

#include "cli/commands/command.h"
#include "cli/program/commands.h"
#include "cli/program/context.h"
#include "cli/program/exit.h"
#include "cli/repl/chat.h"
#include "cli/settings/run_flags.h"

namespace reprise::cli {
namespace {

class Chat final : public Command {
 public:
  ArgumentTable arguments() override {
    ArgumentTable table{
        .options = {{"-c,--continue", "", "continue the newest session of this folder", &newest_},
                    {.names = "-r,--resume",
                     .value = "SEL",
                     .help = "continue this session; without SEL, choose from a menu",
                     .target = &sel_,
                     .value_optional = true},
                    {"--new", "", "start a new session; a store's current one is archived", &new_},
                    {"-a,--all", "", "offer the sessions of all folders", &all_},
                    {"--plain", "", "work line by line, even on a terminal", &plain_}},
        .arguments = {{"PATH", "the folder, for a mode that takes one", &path_}}};
    add_run_flags(table, flags_);
    return table;
  }

  Result<Exit> run(Context& context) override {
    if (newest_ && sel_) {
      return context.voice().wrong_usage("-c and -r exclude each other");
    }
    if (new_ && (newest_ || sel_)) {
      return context.voice().wrong_usage("--new excludes -c and -r");
    }
    if (path_ && (!flags_.mode || newest_ || sel_)) {
      return context.voice().wrong_usage("a folder goes with --mode and a new session");
    }
    ChatRequest request{
        .flags = flags_, .newest = newest_, .fresh = new_, .all = all_, .plain = plain_};
    request.choose = sel_ && sel_->empty();
    if (sel_ && !sel_->empty()) {
      request.sel = sel_;
    }
    if (path_) {
      request.mode_path = *path_;
    }
    return run_chat(context, std::move(request));
  }

 private:
  RunFlags flags_;
  std::optional<std::string> sel_;
  std::optional<std::string> path_;
  bool newest_ = false;
  bool new_ = false;
  bool all_ = false;
  bool plain_ = false;
};

}  // namespace

std::unique_ptr<Command> make_chat() {
  return std::make_unique<Chat>();
}

}  // namespace reprise::cli
