// reprise delete: moves sessions to the trash or purges them.

#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/program/store_opener.h"
#include "cli/session/removal.h"

namespace reprise::cli {
namespace {

class Delete final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {{"--purge", "", "remove for good, even from the trash", &purge_}},
            .arguments = {{"SEL", kSessionsHelp, &sels_, true}}};
  }

  Result<Exit> run(Context& context) override {
    REPRISE_ASSIGN(Store* const store, context.stores().open_existing());
    std::vector<SessionState> states = every_state();
    if (!purge_) {
      std::erase(states, SessionState::trashed);
    }
    REPRISE_ASSIGN(const std::vector<SessionInfo> sessions,
                   context.stores().select_all(*store, sels_, Use::change, states));
    const std::string what = sessions.size() == 1 ? session_name(*store, sessions.front())
                                                  : cat(sessions.size(), " sessions");
    return ask_and_remove(context, *store, {.sessions = sessions, .damage = {}},
                          {.what = what, .how = purge_ ? Removal::purge : Removal::trash});
  }

 private:
  std::vector<std::string> sels_;
  bool purge_ = false;
};

}  // namespace

std::unique_ptr<Command> make_delete() {
  return std::make_unique<Delete>();
}

}  // namespace reprise::cli
