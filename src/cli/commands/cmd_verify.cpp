// reprise verify: reads everything; --repair writes all that is readable into a new store.

#include <iterator>

#include "base/command_line.h"
#include "choice/settings.h"
#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/program/store_opener.h"
#include "cli/settings/context_file.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"

namespace reprise::cli {
namespace {

struct RepairedStore {
  std::string url;  // "" for none
  std::string path;
};

// A store beside the damaged one, such as "sqlite:/x/reprise.db.repaired-20260118T201530Z", with
// the same parameters.
Result<RepairedStore> repaired_store(const std::string& url, Time now) {
  std::string time = format_time(std::chrono::floor<std::chrono::seconds>(now));
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  REPRISE_ASSIGN(const std::string damaged, store_path(url));
  const std::size_t begin = url.find(':') + 1;
  const std::size_t end = begin + damaged.size();
  std::string path = cat(damaged, ".repaired-", time);
  return RepairedStore{cat(url.substr(0, begin), path, url.substr(end)), std::move(path)};
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
    can_repair_ = store->capabilities().repair != nullptr;
    VerifyReport report;
    RepairedStore repaired;
    if (repair_) {
      REPRISE_ASSIGN(Repair* const repair, offered(store->capabilities().repair, "be repaired"));
      const std::string url =
          absolute_store_url(resolved_store_url(context.config().store_url(*settings)),
                             context.config().working_dir());
      REPRISE_ASSIGN(repaired, repaired_store(url, context.clock().now()));
      REPRISE_ASSIGN(report, repair->repair_into(repaired.path));
    } else {
      REPRISE_ASSIGN(Verifier* const verifying,
                     offered(store->capabilities().verifier, "be verified"));
      REPRISE_ASSIGN(report, verifying->verify());
    }
    context.console().end_progress();
    print(context, report, repaired);
    return report.damage.empty() ? Exit::success : Exit::failed;
  }

 private:
  void print(Context& context, const VerifyReport& report, const RepairedStore& repaired) const {
    if (context.globals().json) {
      std::string out;
      json::ObjectWriter object(out);
      object.field("sessions", report.sessions).field("messages", report.messages);
      object.field("messages_lost", report.messages_lost);
      object.raw("damage", damage_document(report.damage));
      object.text_or_null("repaired", repaired.path).close();
      context.console().print_json(out);
    }
    for (const Damage& part : report.damage) {
      context.console().warn(cat("damaged: ", part.where, ": ", part.reason));
    }
    context.console().notice(
        cat(repaired.path.empty() ? "read " : "recovered ", counted(report.sessions, "session"),
            " and ", counted(report.messages, "message"),
            report.messages_lost == 0
                ? ""
                : cat(", lost at least ", counted(report.messages_lost, "message")),
            "; ", counted(std::ssize(report.damage), "damaged part")));
    if (!repaired.path.empty()) {
      context.console().notice(cat("wrote ", repaired.path, "; the store itself was not changed"));
      context.console().notice(cat("use it with `--store ", shell_word(repaired.url),
                                   "`, or always with `",
                                   shell_command({"config", "set", "store", repaired.url}), "`"));
    } else if (!report.damage.empty() && can_repair_) {
      context.console().notice(cat("`", context.config().program(),
                                   " verify --repair` writes everything readable to a new store"));
    }
  }

  bool repair_ = false;
  bool can_repair_ = false;
};

}  // namespace

std::unique_ptr<Command> make_verify() {
  return std::make_unique<Verify>();
}

}  // namespace reprise::cli
