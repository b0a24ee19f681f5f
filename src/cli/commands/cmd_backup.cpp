// reprise backup: a consistent snapshot of the store.

#include "base/json_write.h"
#include "cli/commands/command.h"
#include "cli/program/store_opener.h"
#include "reprise/capabilities.h"

namespace reprise::cli {
namespace {

class BackupCommand final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {}, .arguments = {{"FILE", "the file to create", &file_, true}}};
  }

  Result<Exit> run(Context& context) override {
    REPRISE_ASSIGN(Store* const store, context.stores().open(Access::read));
    REPRISE_ASSIGN(Backup* const backup, offered(store->capabilities().backup, "be backed up"));
    const std::filesystem::path target = context.config().working_dir() / file_;
    REPRISE_TRY(backup->backup(target));
    context.console().end_progress();
    if (context.globals().json) {
      context.console().print_json(json::object_of("backup", target.string()));
    }
    context.console().notice(cat("wrote ", target.string()));
    return Exit::success;
  }

 private:
  std::string file_;
};

}  // namespace

std::unique_ptr<Command> make_backup() {
  return std::make_unique<BackupCommand>();
}

}  // namespace reprise::cli
