// reprise cleanup: moves sessions closed long ago to the trash.

#include "base/terminal_text.h"
#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/program/age.h"
#include "cli/program/store_opener.h"
#include "cli/session/removal.h"
#include "cli/settings/time_value.h"

namespace reprise::cli {
namespace {

constexpr std::string_view kOlderThan = "30d";

class Cleanup final : public Command {
 public:
  ArgumentTable arguments() override {
    return {
        .options = {{"--older-than", "AGE", "closed longer ago than this, such as 90d (30d)",
                     &older_than_},
                    {"--dry-run", "", "show what would be removed, without removing it", &dry_run_},
                    {"--purge", "", "remove for good", &purge_}},
        .arguments = {}};
  }

  Result<Exit> run(Context& context) override {
    const std::string age = older_than_.value_or(std::string(kOlderThan));
    const auto duration = parse_duration(age);
    if (!duration) {
      return context.console().wrong_usage(
          cat("--older-than needs a number of days such as 30d, not '", age, "'"));
    }
    REPRISE_ASSIGN(Store* const store, dry_run_ ? context.stores().open(Access::read)
                                                : context.stores().open_existing());
    REPRISE_ASSIGN(const FoundSessions found,
                   find_closed_before(*store, context.clock().now() - *duration));
    if (dry_run_) {
      show(context, found.sessions);
      warn_of_damage(context, found.damage);
      return found.damage.empty() ? Exit::done : Exit::failed;
    }
    return ask_and_remove(
        context, *store, found,
        {.what = cat(found.sessions.size(), " sessions closed more than ", age, " ago"),
         .how = purge_ ? Removal::purge : Removal::trash});
  }

 private:
  static void show(Context& context, const std::vector<SessionInfo>& sessions) {
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
    context.console().notice(cat(sessions.size(), " sessions would go to the trash"));
  }

  std::optional<std::string> older_than_;
  bool dry_run_ = false;
  bool purge_ = false;
};

}  // namespace

std::unique_ptr<Command> make_cleanup() {
  return std::make_unique<Cleanup>();
}

}  // namespace reprise::cli
