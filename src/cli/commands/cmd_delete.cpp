// reprise delete, clear, cleanup: moves sessions to the trash or purges them: those named, all of a
// folder or archive, or those closed long ago. `clear --trash` empties the trash.

#include <iterator>

#include "base/terminal_text.h"
#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/program/store_opener.h"
#include "cli/session/removal.h"
#include "cli/settings/time_value.h"

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
                   context.stores().select_all(*store, sels_, Use::trash, states));
    const std::string description = sessions.size() == 1 ? session_name(*store, sessions.front())
                                                         : cat(sessions.size(), " sessions");
    return ask_and_remove(
        context, *store, {.sessions = sessions, .damage = {}},
        {.description = description, .removal = purge_ ? Removal::purge : Removal::trash});
  }

 private:
  std::vector<std::string> sels_;
  bool purge_ = false;
};

class Clear final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {{"-a,--all", "", "sessions of all folders", &all_},
                        {"--trash", "", "empty the trash, removing its sessions for good", &trash_},
                        {"--purge", "", "remove for good, bypassing the trash", &purge_}},
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
    const bool has_archive = store->capabilities().current_session != nullptr && !trash_;
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
      return Exit::success;
    }
    const std::string_view of =
        store->capabilities().many_folders ? all ? "all folders" : "this folder" : "this store";
    const std::string description = cat(count,
                                        has_archive ? " archived"
                                        : trash_    ? " trashed"
                                                    : "",
                                        count == 1 ? " session of " : " sessions of ", of);
    return ask_and_remove(
        context, *store, found,
        {.description = description,
         .removal = purge_ || trash_ ? Removal::purge : Removal::trash,
         .empty_message = cat("no ", has_archive ? "archived " : "", "sessions",
                              all ? "" : " in this folder; --all clears all folders"),
         .unconfirmed_max = has_archive ? std::size_t{1} : 0});
  }

 private:
  bool all_ = false;
  bool trash_ = false;
  bool purge_ = false;
};

constexpr std::string_view kOlderThan = "30d";

class Cleanup final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {{"--older-than", "AGE",
                         "closed longer ago than this, such as 90d (default: 30d)", &older_than_},
                        {"--dry-run", "", "show what would be moved to the trash", &dry_run_},
                        {"--purge", "", "remove for good, bypassing the trash", &purge_}},
            .arguments = {}};
  }

  Result<Exit> run(Context& context) override {
    const std::string age = older_than_.value_or(std::string(kOlderThan));
    const auto duration = parse_duration(age);
    if (!duration) {
      return context.console().usage_error(
          cat("--older-than must be an age such as '3 days', 4w or 12h, not '", age, "'"));
    }
    REPRISE_ASSIGN(Store* const store, dry_run_ ? context.stores().open(Access::read)
                                                : context.stores().open_existing());
    REPRISE_ASSIGN(const FoundSessions found,
                   find_closed_before(*store, context.clock().now() - *duration));
    if (dry_run_) {
      show(context, found.sessions);
      warn_of_damage(context, found.damage);
      return found.damage.empty() ? Exit::success : Exit::failed;
    }
    return ask_and_remove(context, *store, found,
                          {.description = cat(counted(std::ssize(found.sessions), "session"),
                                              " closed more than ", age, " ago"),
                           .removal = purge_ ? Removal::purge : Removal::trash,
                           .empty_message = cat("no session was closed more than ", age, " ago")});
  }

 private:
  void show(Context& context, const std::vector<SessionInfo>& sessions) const {
    if (context.globals().json) {
      context.console().print_json(infos_document(sessions));
    } else {
      const std::vector<std::string> ids = short_ids_of(sessions);
      for (std::size_t i = 0; i < sessions.size(); ++i) {
        const Time closed_at = sessions[i].closed_at.value_or(sessions[i].updated_at);
        context.console().out().write(cat(ids[i], "  ", terminal_line(sessions[i].title),
                                          "  (closed ", age_text(closed_at, context.clock().now()),
                                          ")\n"));
      }
    }
    context.console().notice(cat(counted(std::ssize(sessions), "session"),
                                 purge_ ? " would be removed for good" : " would go to the trash"));
  }

  std::optional<std::string> older_than_;
  bool dry_run_ = false;
  bool purge_ = false;
};

}  // namespace

std::unique_ptr<Command> make_delete() {
  return std::make_unique<Delete>();
}

std::unique_ptr<Command> make_clear() {
  return std::make_unique<Clear>();
}

std::unique_ptr<Command> make_cleanup() {
  return std::make_unique<Cleanup>();
}

}  // namespace reprise::cli
