// reprise archive: packs sessions.

#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/program/store_opener.h"
#include "cli/session/removal.h"

namespace reprise::cli {
namespace {

class Archive final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {}, .arguments = {{"SEL", kSessionsHelp, &sels_, true}}};
  }

  Result<Exit> run(Context& context) override {
    REPRISE_ASSIGN(Store* const store, context.stores().open_existing());
    REPRISE_ASSIGN(Archives* const archives, offered(store->capabilities().archives,
                                                     "archive sessions; `reprise close` marks one "
                                                     "as done"));
    return change_sessions(context, *store, sels_, "archive",
                           [&](const SessionInfo& info) -> Result<> {
                             REPRISE_TRY(archives->archive(info.id, context.clock().now()));
                             context.console().notice(cat("archived ", session_name(*store, info)));
                             return {};
                           });
  }

 private:
  std::vector<std::string> sels_;
};

}  // namespace

std::unique_ptr<Command> make_archive() {
  return std::make_unique<Archive>();
}

}  // namespace reprise::cli
