// reprise close: a session is done.

#include <memory>

#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/commands/removal.h"
#include "cli/output/session_json.h"
#include "cli/program/commands.h"
#include "cli/program/context.h"
#include "cli/program/exit.h"
#include "reprise/store.h"

namespace reprise::cli {
namespace {

class Close final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {}, .arguments = {{"SEL", "the session", &sel_, true}}};
  }

  Result<Exit> run(Context& context) override {
    REPRISE_ASSIGN(Store* const store, context.stores().open_existing());
    REPRISE_ASSIGN(const SessionInfo info, context.stores().select(*store, sel_));
    if (info.state == SessionState::closed) {
      context.voice().remark(cat("'", info.title, "' is closed already"));
      return Exit::done;
    }
    REPRISE_ASSIGN(const bool answers, check_answering(context, *store, info));
    if (answers) {
      return fail(Code::busy, cat("cannot close '", info.title, "': it is answering now"));
    }
    const auto saved = store->update(info.id, {.state = SessionState::closed,
                                               .closed_at = std::optional(context.clock().now())});
    if (!saved && saved.error().code == Code::io) {
      context.voice().warn(
          cat("'", info.title, "' stays open, it could not be saved: ", saved.error().message));
      return Exit::unsaved;
    }
    REPRISE_TRY(saved);
    context.voice().remark(cat("closed '", info.title, "'"));
    return show_session(context, *store, info.id);
  }

 private:
  std::string sel_;
};

}  // namespace

std::unique_ptr<Command> make_close() {
  return std::make_unique<Close>();
}

}  // namespace reprise::cli
