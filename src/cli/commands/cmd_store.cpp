// reprise store: administration of a store on a server.

#include "base/assert.h"
#include "base/json_write.h"
#include "choice/settings.h"
#include "cli/commands/command.h"
#include "cli/commands/store_status.h"
#include "cli/program/interrupts.h"
#include "cli/program/store_opener.h"
#include "cli/settings/time_value.h"
#include "reprise/capabilities.h"
#include "reprise/sessions.h"
#include "search/document.h"
#include "session/outbox.h"

namespace reprise::cli {
namespace {

constexpr std::chrono::hours kOperationsAge{24 * 7};

class StoreCommand final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {{"--dry-run", "", "with migrate: show what would be done, without doing it",
                         &dry_run_},
                        {"--all-tenants", "",
                         "with sweep, index and status: all tenants, not only the one in the "
                         "store's URL",
                         &all_tenants_}},
            .arguments = {{"ACTION",
                           "migrate, sweep, index or status",
                           &action_,
                           true,
                           {"migrate", "sweep", "index", "status"}}}};
  }

  Result<Exit> run(Context& context) override {
    if (action_ == "migrate") {
      return all_tenants_
                 ? context.console().usage_error("--all-tenants cannot be used with migrate")
                 : migrate(context);
    }
    if (dry_run_) {
      return context.console().usage_error("--dry-run can only be used with migrate");
    }
    REPRISE_TRY(require_server(context));
    return action_ == "sweep"   ? sweep(context)
           : action_ == "index" ? index(context)
                                : show_store_status(context, all_tenants_);
  }

 private:
  Result<Exit> migrate(Context& context) const {
    REPRISE_ASSIGN(const StoreOpener::Target target, context.stores().target());
    std::vector<std::string> steps;
    REPRISE_TRY(migrate_store(target.url, target.options,
                              {.dry_run = dry_run_, .on_step = [&](std::string_view step) {
                                 steps.emplace_back(step);
                                 if (!context.globals().json) {
                                   // Whoever watches a log sees a step when it begins. A failure
                                   // is reported at the end.
                                   context.console().out().write(cat(step, "\n"));
                                   (void)context.console().out().flush();
                                 }
                               }}));
    if (context.globals().json) {
      print_steps(context, steps);
    }
    context.console().notice(steps.empty() ? "the tables are up to date"
                             : dry_run_    ? "nothing was changed"
                                           : "the tables are up to date now");
    return Exit::success;
  }

  void print_steps(Context& context, const std::vector<std::string>& steps) const {
    std::string out;
    json::ObjectWriter object(out);
    object.field("dry_run", dry_run_).key("steps");
    json::ArrayWriter array(out);
    for (const std::string& step : steps) {
      array.item();
      json::append_string(out, step);
    }
    array.close();
    object.close();
    context.console().print_json(out);
  }

  Result<> require_server(Context& context) const {
    REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
    if (is_on_a_server(context.config().store_url(*settings))) {
      return {};
    }
    return fail(Code::unsupported, cat(action_.value_or(""),
                                       " works only on a PostgreSQL store; name one with --store ",
                                       "postgres://HOST/DATABASE"));
  }

  // Calls `work` with the store of each tenant: of all, or of the one in the store's URL.
  template <class Work>
  Result<> for_each_tenant(Context& context, const Work& work) const {
    REPRISE_ASSIGN(Store* const store, context.stores().open_existing());
    if (!all_tenants_) {
      return work(*store);
    }
    Tenants& tenants = *store->capabilities().tenants;
    REPRISE_ASSIGN(const auto names, tenants.names());
    for (const std::string& name : names) {
      REPRISE_ASSIGN(const auto tenant, tenants.of(name));
      if (auto result = work(*tenant); !result) {
        return fail_with_context(cat("tenant ", name), std::move(result).error());
      }
    }
    return {};
  }

  struct Indexed {
    std::int64_t tenants = 0;
    std::int64_t elsewhere = 0;  // tenants that another process indexes
    std::int64_t refused = 0;    // tenants whose index this role may not use
  };

  // Whoever watches a log sees how far it is.
  static Result<> index_tenant(Context& context, Store& store, Indexed& indexed) {
    ++indexed.tenants;
    WordIndex* const words = store.capabilities().word_index;
    if (words == nullptr) {
      ++indexed.refused;
      return {};
    }
    constexpr std::chrono::seconds kLogPause{10};
    auto logged = std::chrono::steady_clock::now();
    const std::stop_token stop = interrupt_token();
    const auto on_progress = [&](std::int64_t messages, std::int64_t total) {
      context.console().progress({"indexing", messages, total});
      if (const auto now = std::chrono::steady_clock::now(); now - logged >= kLogPause) {
        logged = now;
        context.console().notice(cat("indexed ", messages, " of about ", total, " messages"));
      }
      return stop.stop_requested() ? Flow::stop : Flow::proceed;
    };
    auto is_done = words->index_words(search::entry_of, on_progress);
    context.console().end_progress();
    REPRISE_TRY(is_done);
    if (stop.stop_requested()) {
      return fail(Code::cancelled, "stopped; what was indexed remains");
    }
    indexed.elsewhere += *is_done ? 0 : 1;
    return {};
  }

  Result<Exit> index(Context& context) const {
    const Interrupts interrupts;
    Indexed indexed;
    REPRISE_TRY(for_each_tenant(
        context, [&](Store& store) { return index_tenant(context, store, indexed); }));
    if (context.globals().json) {
      std::string out;
      json::ObjectWriter(out)
          .field("tenants", indexed.tenants)
          .field("elsewhere", indexed.elsewhere)
          .field("refused", indexed.refused)
          .close();
      context.console().print_json(out);
    }
    if (indexed.elsewhere + indexed.refused == 0) {
      context.console().notice(
          cat("the words of ", counted(indexed.tenants, "tenant"), " are indexed"));
    }
    return report_unindexed(context, indexed);
  }

  static Exit report_unindexed(Context& context, const Indexed& indexed) {
    if (indexed.elsewhere > 0) {
      context.console().notice(cat("another process indexes ", indexed.elsewhere, " of ",
                                   counted(indexed.tenants, "tenant")));
    }
    if (indexed.refused > 0) {
      context.console().warn(cat("not indexed: ", indexed.refused, " of ",
                                 counted(indexed.tenants, "tenant"),
                                 ", since this role may not use their index: see `",
                                 context.config().program(), " store status`"));
    }
    return indexed.refused > 0 ? Exit::failed : Exit::success;
  }

  struct Swept {
    Indexed indexed;
    std::int64_t trashed = 0;
    std::int64_t forgotten = 0;
    bool clock_jumped = false;
  };

  static Result<> sweep_tenant(Context& context, Store& store, const Settings& settings,
                               Swept& swept) {
    REPRISE_ASSIGN(const std::int64_t forgotten,
                   store.capabilities().tenants->forget_operations(kOperationsAge));
    swept.forgotten += forgotten;
    REPRISE_TRY(retain(context, store, settings, swept));
    return index_tenant(context, store, swept.indexed);
  }

  static Result<> retain(Context& context, Store& store, const Settings& settings, Swept& swept) {
    if (!settings.retention || swept.clock_jumped) {
      return {};
    }
    const auto age = parse_duration(*settings.retention);
    REPRISE_ASSERT(age.has_value());  // validated with the settings
    const RetentionResult result =
        apply_retention(store, *age, context.config().state_folder(), context.clock());
    swept.trashed += static_cast<std::int64_t>(result.moved);
    swept.clock_jumped = result.clock_jumped;
    return result.error ? Result<>(std::unexpected(*result.error)) : Result<>();
  }

  Result<Exit> sweep(Context& context) const {
    REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
    const Interrupts interrupts;
    Swept swept;
    REPRISE_TRY(for_each_tenant(
        context, [&](Store& store) { return sweep_tenant(context, store, *settings, swept); }));
    report(context, *settings, swept);
    return report_unindexed(context, swept.indexed);
  }

  void report(Context& context, const Settings& settings, const Swept& swept) const {
    if (context.globals().json) {
      std::string out;
      json::ObjectWriter object(out);
      object.field("tenants", swept.indexed.tenants).field("trashed", swept.trashed);
      object.field("forgotten", swept.forgotten);
      object.close();
      context.console().print_json(out);
    }
    const std::string where =
        all_tenants_ ? cat(" of ", counted(swept.indexed.tenants, "tenant"), ",") : "";
    if (swept.clock_jumped) {
      context.console().note(
          "the clock has jumped; no session is moved to the trash because of its age");
    } else if (settings.retention) {
      context.console().notice(cat("moved to the trash: ", counted(swept.trashed, "session"), where,
                                   " closed more than ", *settings.retention, " ago"));
    }
    context.console().notice(cat("removed ", counted(swept.forgotten, "operation id"), where,
                                 " of sessions unchanged for a week"));
  }

  std::optional<std::string> action_;
  bool dry_run_ = false;
  bool all_tenants_ = false;
};

}  // namespace

std::unique_ptr<Command> make_store() {
  return std::make_unique<StoreCommand>();
}

}  // namespace reprise::cli
