// reprise clear: moves this folder's sessions or all archived sessions to the trash, or empties it.

#include "cli/commands/command.h"
#include "cli/program/store_opener.h"
#include "cli/session/removal.h"

namespace reprise::cli {
namespace {

class Clear final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {{"-a,--all", "", "sessions of all folders", &all_},
                        {"--trash", "", "empty the trash: remove what is in it for good", &trash_},
                        {"--purge", "", "remove for good", &purge_}},
            .arguments = {}};
  }

  Result<Exit> run(Context& context) override {
    REPRISE_ASSIGN(Store* const store, context.stores().open_existing());
    SessionQuery query;
    const bool all = all_ || !store->capabilities().many_folders;
    if (!all) {
      query.working_dir = context.config().project();
    }
    // In stores where a new session archives the previous one, only archived sessions are cleared.
    const bool has_archive = store->capabilities().current != nullptr && !trash_;
    if (has_archive) {
      query.states = {SessionState::archived};
    } else if (trash_) {
      query.states = {SessionState::trashed};
    }
    REPRISE_ASSIGN(const FoundSessions found, find_all_sessions(*store, query));
    const std::size_t count = found.sessions.size();
    if (trash_ && count == 0 && found.damage.empty() && !context.globals().json) {
      context.console().notice(
          cat("the trash is empty", all ? "" : "; --all empties the trash of all folders"));
      return Exit::done;
    }
    const std::string_view of =
        store->capabilities().many_folders ? all ? "all folders" : "this folder" : "this store";
    const std::string what = cat(count,
                                 has_archive ? " archived"
                                 : trash_    ? " trashed"
                                             : "",
                                 count == 1 ? " session of " : " sessions of ", of);
    return ask_and_remove(context, *store, found,
                          {.what = what,
                           .how = purge_ || trash_ ? Removal::purge : Removal::trash,
                           .unconfirmed_max = has_archive ? std::size_t{1} : 0});
  }

 private:
  bool all_ = false;
  bool trash_ = false;
  bool purge_ = false;
};

}  // namespace

std::unique_ptr<Command> make_clear() {
  return std::make_unique<Clear>();
}

}  // namespace reprise::cli
