// reprise close: marks sessions as closed.

#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/program/store_opener.h"
#include "cli/session/removal.h"

namespace reprise::cli {
namespace {

class Close final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {}, .arguments = {{"SEL", kSessionsHelp, &sels_, true}}};
  }

  Result<Exit> run(Context& context) override {
    REPRISE_ASSIGN(Store* const store, context.stores().open_existing());
    REPRISE_ASSIGN(const Exit exit,
                   change_sessions(context, *store, sels_, "close", [&](const SessionInfo& info) {
                     return close(context, *store, info);
                   }));
    return is_unsaved_ ? Exit::unsaved : exit;
  }

 private:
  Result<> close(Context& context, Store& store, const SessionInfo& info) {
    if (info.state == SessionState::closed) {
      context.console().notice(cat(session_name(store, info), " is already closed"));
      return {};
    }
    const auto saved = store.update(info.id, {.state = SessionState::closed,
                                              .closed_at = std::optional(context.clock().now())});
    if (!saved && saved.error().code == Code::io) {
      context.console().warn(
          cat(session_name(store, info),
              " stays open because it could not be saved: ", saved.error().message));
      is_unsaved_ = true;
      return {};
    }
    REPRISE_TRY(saved);
    context.console().notice(cat("closed ", session_name(store, info)));
    return {};
  }

  std::vector<std::string> sels_;
  bool is_unsaved_ = false;
};

}  // namespace

std::unique_ptr<Command> make_close() {
  return std::make_unique<Close>();
}

}  // namespace reprise::cli
