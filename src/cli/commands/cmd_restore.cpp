// reprise restore: back from the trash or the archive.

#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/program/commands.h"
#include "cli/program/context.h"
#include "cli/program/exit.h"
#include "reprise/capabilities.h"

namespace reprise::cli {
namespace {

class Restore final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {},
            .arguments = {{"SEL", "the session, of `reprise list --state trashed` or archived",
                           &sel_, true}}};
  }

  Result<Exit> run(Context& context) override {
    REPRISE_ASSIGN(Store* const store, context.stores().open_existing());
    REPRISE_ASSIGN(
        const SessionInfo info,
        context.stores().select(*store, sel_, {SessionState::trashed, SessionState::archived}));
    Archives* const archives = store->capabilities().archives;
    if (info.state == SessionState::archived && archives != nullptr) {
      REPRISE_TRY(archives->unarchive(info.id));
    } else {
      REPRISE_ASSIGN(Trash* const trash, offered(store->capabilities().trash, "restore sessions"));
      REPRISE_TRY(trash->restore(info.id));
    }
    context.voice().remark(cat("restored '", info.title, "'"));
    return show_session(context, *store, info.id);
  }

 private:
  std::string sel_;
};

}  // namespace

std::unique_ptr<Command> make_restore() {
  return std::make_unique<Restore>();
}

}  // namespace reprise::cli
