// reprise fork: a new session with the same beginning.

#include "base/terminal_text.h"
#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/program/store_opener.h"
#include "reprise/sessions.h"

namespace reprise::cli {
namespace {

class Fork final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {{"--at",
                         "SEQ",
                         "share only the messages before this one (default: all)",
                         &at_,
                         {},
                         false,
                         {},
                         {.min = 0}},
                        {"--title", "TITLE", "the title of the new session", &title_}},
            .arguments = {{"SEL", "the session to fork", &sel_, true}}};
  }

  Result<Exit> run(Context& context) override {
    if (title_) {
      title_ = std::string(trimmed(terminal_line(*title_)));
    }
    if (title_ && title_->empty()) {
      return context.console().usage_error("the title is empty");
    }
    REPRISE_ASSIGN(Store* const store, context.stores().open_existing());
    REPRISE_ASSIGN(const SessionInfo info, context.stores().select(*store, sel_, Use::change));
    const std::optional<Seq> at = at_ ? std::optional(Seq{*at_}) : std::nullopt;
    REPRISE_ASSIGN(
        const SessionId child,
        fork_session(*store, {.parent = info.id, .at = at, .title = title_}, context.clock()));
    REPRISE_ASSIGN(const Session created, get(*store, child));
    context.console().notice(cat("created ", session_name(*store, created.info)));
    if (!context.globals().json) {
      context.console().out().write(cat(child.str(), "\n"));
    }
    return show_session(context, *store, child);
  }

 private:
  std::string sel_;
  std::optional<std::string> title_;
  std::optional<std::int64_t> at_;
};

}  // namespace

std::unique_ptr<Command> make_fork() {
  return std::make_unique<Fork>();
}

}  // namespace reprise::cli
