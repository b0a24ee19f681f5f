// reprise store: administration of a store on a server.

#include "base/assert.h"
#include "cli/commands/command.h"
#include "cli/settings/moment.h"
#include "cli/settings/settings.h"
#include "reprise/sessions.h"

namespace reprise::cli {
namespace {

constexpr std::chrono::hours kOperationsAge{24 * 7};

class StoreCommand final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {{"--dry-run", "", "with migrate: show what would be done, without doing it",
                         &dry_run_}},
            .arguments = {{"ACTION", "migrate or sweep", &action_, true, {"migrate", "sweep"}}}};
  }

  Result<Exit> run(Context& context) override {
    if (action_ == "migrate") {
      return migrate(context);
    }
    if (action_ != "sweep") {
      return context.voice().wrong_usage(
          cat("unknown action '", action_.value_or(""), "'; there are migrate and sweep"));
    }
    if (dry_run_) {
      return context.voice().wrong_usage("--dry-run can only be used with migrate");
    }
    return sweep(context);
  }

 private:
  Result<Exit> migrate(Context& context) const {
    REPRISE_ASSIGN(const StoreOpener::Place place, context.stores().place());
    int steps = 0;
    REPRISE_TRY(migrate_store(place.url, place.options,
                              {.dry_run = dry_run_, .on_step = [&](std::string_view step) {
                                 ++steps;
                                 context.voice().out().write(cat(step, "\n"));
                               }}));
    context.voice().remark(steps == 0 ? "the tables are up to date"
                           : dry_run_ ? "nothing was changed"
                                      : "the tables are up to date now");
    return Exit::done;
  }

  static Result<Exit> sweep(Context& context) {
    REPRISE_ASSIGN(const StoreOpener::Place place, context.stores().place());
    REPRISE_ASSIGN(const std::int64_t forgotten,
                   forget_operations(place.url, place.options, kOperationsAge));
    REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
    if (settings->retention) {
      REPRISE_ASSIGN(Store* const store, context.stores().open_existing());
      const auto age = parse_duration(*settings->retention);
      REPRISE_ASSERT(age.has_value());  // validated with the settings
      const Retained done =
          retain_sessions(*store, *age, context.config().state_folder(), context.clock());
      if (done.error) {
        return std::unexpected(*done.error);
      }
      context.voice().remark(cat("moved to the trash: ", done.moved,
                                 done.moved == 1 ? " session" : " sessions", " closed more than ",
                                 *settings->retention, " ago"));
    }
    context.voice().remark(cat("forgot ", forgotten, forgotten == 1 ? " operation" : " operations",
                               " of sessions unchanged for a week"));
    return Exit::done;
  }

  std::optional<std::string> action_;
  bool dry_run_ = false;
};

}  // namespace

std::unique_ptr<Command> make_store() {
  return std::make_unique<StoreCommand>();
}

}  // namespace reprise::cli
