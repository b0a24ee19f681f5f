// reprise verify: reads everything; --repair writes all that is readable into a new store.

#include <iterator>

#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/program/store_opener.h"
#include "cli/settings/context_file.h"
#include "cli/settings/settings.h"
#include "reprise/capabilities.h"

namespace reprise::cli {
namespace {

// A store beside the damaged one, such as "sqlite:/x/reprise.db.repaired-20260118T201530Z".
std::string repaired_url(std::string_view url, Time now) {
  std::string time = format_time(std::chrono::floor<std::chrono::seconds>(now));
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  return cat(resolved_store_url(url), ".repaired-", time);
}

std::string path_of(const std::string& url) {
  return url.substr(url.find(':') + 1);
}

class Verify final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {{"--repair", "", "write everything readable to a new store", &repair_}},
            .arguments = {}};
  }

  Result<Exit> run(Context& context) override {
    REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
    REPRISE_ASSIGN(Store* const store, context.stores().open(Access::read));
    VerifyReport report;
    std::string repaired;
    if (repair_) {
      REPRISE_ASSIGN(Repair* const repair, offered(store->capabilities().repair, "be repaired"));
      repaired = repaired_url(context.config().store_url(*settings), context.clock().now());
      REPRISE_ASSIGN(report, repair->repair_into(path_of(repaired)));
    } else {
      REPRISE_ASSIGN(Verifier* const verifying,
                     offered(store->capabilities().verifying, "be verified"));
      REPRISE_ASSIGN(report, verifying->verify());
    }
    context.console().end_progress();
    print(context, report, repaired);
    return report.damage.empty() ? Exit::done : Exit::failed;
  }

 private:
  static void print(Context& context, const VerifyReport& report, const std::string& repaired) {
    if (context.globals().json) {
      std::string out;
      json::ObjectWriter object(out);
      object.field("sessions", report.sessions).field("messages", report.messages);
      object.field("messages_lost", report.messages_lost);
      object.raw("damage", damage_document(report.damage));
      if (repaired.empty()) {
        object.null("repaired");
      } else {
        object.field("repaired", path_of(repaired));
      }
      object.close();
      context.console().print_json(out);
    }
    for (const Damage& part : report.damage) {
      context.console().warn(cat("damaged: ", part.where, ": ", part.reason));
    }
    context.console().notice(
        cat(repaired.empty() ? "read " : "recovered ", counted(report.sessions, "session"), " and ",
            counted(report.messages, "message"),
            report.messages_lost == 0
                ? ""
                : cat(", lost at least ", counted(report.messages_lost, "message")),
            "; ", counted(std::ssize(report.damage), "damaged part")));
    if (!repaired.empty()) {
      context.console().notice(
          cat("wrote ", path_of(repaired), "; the store itself was not changed"));
      context.console().notice(cat("use it with `--store ", repaired,
                                   "`, or always with `reprise config set store ", repaired, "`"));
    } else if (!report.damage.empty()) {
      context.console().notice(
          "`reprise verify --repair` writes everything readable to a new store");
    }
  }

  bool repair_ = false;
};

}  // namespace

std::unique_ptr<Command> make_verify() {
  return std::make_unique<Verify>();
}

}  // namespace reprise::cli
