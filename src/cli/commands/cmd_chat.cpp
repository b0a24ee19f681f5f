// reprise chat: a conversation of several turns.

#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/commands/run_chat.h"
#include "cli/provider/provider_model.h"
#include "cli/settings/program_config.h"
#include "cli/settings/provider_names.h"

namespace reprise::cli {
namespace {

constexpr std::chrono::milliseconds kProbeTimeout{500};

bool lacks_provider(Context& context, const RunFlags& flags) {
  if (flags.provider || flags.base_url) {
    return false;
  }
  const auto expected = expected_provider(context);
  return expected && expected->name.empty() && local_servers(context, kProbeTimeout).empty();
}

// Offers ways to get a provider if none is available. False if the user quits.
Result<bool> offer_provider(Context& context, RunFlags& flags) {
  Console& console = context.console();
  while (lacks_provider(context, flags)) {
    console.err().write(
        cat("No provider is set up, and no local model server answers.\n\n"
            "  s  set one up now (reprise setup)\n"
            "  l  look again for a local server, such as Ollama or LM Studio\n"
            "  e  try the built-in model echo, which repeats your message\n"
            "  q  quit\n\n"
            "Or set ",
            key_variables(" or "), " and start again.\n"));
    switch (console.ask_key("s, l, e or q? Enter takes e", "sleq", 'e')) {
      case 's': {
        REPRISE_ASSIGN(const Exit exit, make_setup()->run(context));
        context.config().forget_settings();
        if (exit != Exit::done) {
          return false;
        }
        break;
      }
      case 'l':
        break;
      case 'e':
        flags.provider = "echo";
        break;
      default:
        return false;
    }
  }
  return true;
}

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
      return context.console().wrong_usage("-c and -r cannot be used together");
    }
    if (new_ && (newest_ || sel_)) {
      return context.console().wrong_usage("--new cannot be used with -c or -r");
    }
    if (path_ && (!flags_.mode || newest_ || sel_)) {
      return context.console().wrong_usage(
          "a folder can only be given with --mode and a new session");
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
    // a stored session may name its provider
    const bool is_stored = request.newest || request.sel || request.choose;
    if (!is_stored && context.console().can_ask() && !context.globals().json) {
      REPRISE_ASSIGN(const bool proceed, offer_provider(context, request.flags));
      if (!proceed) {
        return Exit::failed;
      }
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
