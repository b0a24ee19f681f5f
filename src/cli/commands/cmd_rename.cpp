// reprise rename, pin, unpin: changes a session's title or its position in lists.

#include "base/terminal_text.h"
#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/program/store_opener.h"
#include "cli/session/prompt.h"

namespace reprise::cli {
namespace {

class Rename final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {},
            .arguments = {{"SEL", kSessionHelp, &sel_, true},
                          {"TITLE", "its new title", &words_, true}}};
  }

  Result<Exit> run(Context& context) override {
    // A title is one line that is safe to display.
    const std::string joined = terminal_line(join_prompt(words_, ""));
    const std::string title(trimmed(joined));
    if (title.empty()) {
      return context.console().usage_error("the title is empty");
    }
    REPRISE_ASSIGN(Store* const store, context.stores().open_existing());
    REPRISE_ASSIGN(const SessionInfo info, context.stores().select(*store, sel_, Use::change));
    REPRISE_TRY(store->update(info.id, {.title = title}));
    context.console().notice(cat("renamed ", session_name(*store, info), " to '", title, "'"));
    return show_session(context, *store, info.id);
  }

 private:
  std::string sel_;
  std::vector<std::string> words_;
};

class Pin final : public Command {
 public:
  explicit Pin(bool pinned) : pinned_(pinned) {}

  ArgumentTable arguments() override {
    return {.options = {}, .arguments = {{"SEL", kSessionHelp, &sel_, true}}};
  }

  Result<Exit> run(Context& context) override {
    REPRISE_ASSIGN(Store* const store, context.stores().open_existing());
    REPRISE_ASSIGN(const SessionInfo info, context.stores().select(*store, sel_, Use::change));
    REPRISE_TRY(store->update(info.id, {.pinned = pinned_}));
    context.console().notice(cat(pinned_ ? "pinned " : "unpinned ", session_name(*store, info)));
    return show_session(context, *store, info.id);
  }

 private:
  const bool pinned_;
  std::string sel_;
};

}  // namespace

std::unique_ptr<Command> make_rename() {
  return std::make_unique<Rename>();
}

std::unique_ptr<Command> make_pin() {
  return std::make_unique<Pin>(true);
}

std::unique_ptr<Command> make_unpin() {
  return std::make_unique<Pin>(false);
}

}  // namespace reprise::cli
