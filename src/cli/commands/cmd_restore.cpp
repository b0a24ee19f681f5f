// reprise restore: restores sessions from the trash or the archive.

#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/program/store_opener.h"
#include "cli/session/removal.h"

namespace reprise::cli {
namespace {

class Restore final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {{"--all", "", "everything in the trash, from all folders", &all_}},
            .arguments = {{"SEL", "sessions in the trash or the archive", &sels_}}};
  }

  Result<Exit> run(Context& context) override {
    if (all_ == !sels_.empty()) {
      return context.console().wrong_usage(all_ ? "--all and SEL cannot be used together"
                                                : "name a session, or use --all");
    }
    REPRISE_ASSIGN(Store* const store, context.stores().open_existing());
    FoundSessions found;
    if (all_) {
      REPRISE_ASSIGN(found, find_all_sessions(*store, {.states = {SessionState::trashed}}));
    } else {
      REPRISE_ASSIGN(found.sessions,
                     context.stores().select_all(*store, sels_, Use::change,
                                                 {SessionState::trashed, SessionState::archived}));
    }
    warn_of_damage(context, found.damage);
    bool is_whole = found.damage.empty();
    std::int64_t done = 0;
    std::vector<SessionInfo> restored;
    for (const SessionInfo& info : found.sessions) {
      context.console().progress("restoring", done++, std::ssize(found.sessions));
      const auto result = restore(*store, info);
      if (all_ && !result && result.error().code == Code::conflict) {
        context.console().warn(result.error().message);  // the others are not affected
        is_whole = false;
        continue;
      }
      REPRISE_TRY(result);
      context.console().notice(cat("restored ", session_name(*store, info)));
      restored.push_back(info);
    }
    context.console().end_progress();
    if (found.sessions.empty()) {
      context.console().notice("the trash is empty");
    }
    const bool is_one = sels_.size() == 1;
    REPRISE_TRY(is_one ? show_session(context, *store, found.sessions.front().id)
                       : show_sessions(context, *store, restored));
    return is_whole ? Exit::done : Exit::failed;
  }

 private:
  static Result<> restore(Store& store, const SessionInfo& info) {
    Archives* const archives = store.capabilities().archives;
    if (info.state == SessionState::archived && archives != nullptr) {
      return archives->unarchive(info.id);
    }
    REPRISE_ASSIGN(Trash* const trash, offered(store.capabilities().trash, "restore sessions"));
    return trash->restore(info.id);
  }

  std::vector<std::string> sels_;
  bool all_ = false;
};

}  // namespace

std::unique_ptr<Command> make_restore() {
  return std::make_unique<Restore>();
}

}  // namespace reprise::cli
