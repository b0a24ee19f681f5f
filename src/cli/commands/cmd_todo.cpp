// reprise todo: a session's todo list.

#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/output/session_text.h"
#include "cli/program/store_opener.h"
#include "cli/repl/slash.h"
#include "cli/session/prompt.h"
#include "reprise/capabilities.h"

namespace reprise::cli {
namespace {

class TodoCommand final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {},
            .arguments = {{"SEL", kSessionHelp, &sel_, true},
                          {"ACTION",
                           "add TEXT, set N STATUS or done N; without one, show the list",
                           &action_,
                           false,
                           {"add", "set", "done"}},
                          {"WORD", "the text, or the number and the status", &words_}}};
  }

  Result<Exit> run(Context& context) override {
    if (const std::string message = usage_error(); !message.empty()) {
      return context.console().usage_error(message);
    }
    REPRISE_ASSIGN(Store* const store, action_ ? context.stores().open_existing()
                                               : context.stores().open(Access::read));
    REPRISE_ASSIGN(const SessionInfo info,
                   context.stores().select(*store, sel_, action_ ? Use::change : Use::read));
    REPRISE_ASSIGN(Todos* const list, offered(store->capabilities().todos, "hold todos"));
    REPRISE_ASSIGN(const std::vector<Todo> todos,
                   action_ ? list->edit_todos(info.id,
                                              [&](std::vector<Todo>& edited) {
                                                return change_todos(edited, request_);
                                              })
                           : list->todos(info.id));
    print(context, todos);
    if (action_) {
      return Exit::success;
    }
    // Reads no messages, only damage of the session and its todos.
    REPRISE_ASSIGN(const ReadReport report,
                   store->read(info.id, {.from = info.head, .to = info.head},
                               [](const Message&) { return Flow::stop; }));
    warn_of_damage(context, report.damage);
    return report.damage.empty() ? Exit::success : Exit::failed;
  }

 private:
  // Sets request_.
  std::string usage_error() {
    if (!action_) {
      return "";
    }
    if (action_ == "add") {
      request_ = {.action = TodoRequest::Action::add, .text = join_prompt(words_, "")};
      return trimmed(request_.text).empty() ? "add needs the text of the todo" : "";
    }
    const bool set = action_ == "set";
    if (words_.size() != (set ? 2U : 1U)) {
      return set ? "set takes a number and a status" : "done takes one number";
    }
    const std::size_t number = parse_number<std::size_t>(words_[0]).value_or(0);
    if (number == 0) {
      return cat("'", words_[0], "' is not the number of a todo");
    }
    const auto status = set ? parse_todo_status(words_[1]) : TodoStatus::completed;
    request_ = {.action = TodoRequest::Action::set,
                .index = number - 1,
                .status = status.value_or(TodoStatus::pending)};
    return status
               ? ""
               : cat("the status must be pending, in_progress or completed, not '", words_[1], "'");
  }

  static void print(Context& context, const std::vector<Todo>& todos) {
    if (context.globals().json) {
      context.console().print_json(todos_document(todos));
      return;
    }
    context.console().out().write(todo_lines(todos));
    if (todos.empty()) {
      context.console().notice("no todos");
    }
  }

  std::string sel_;
  std::optional<std::string> action_;
  std::vector<std::string> words_;
  TodoRequest request_;
};

}  // namespace

std::unique_ptr<Command> make_todo() {
  return std::make_unique<TodoCommand>();
}

}  // namespace reprise::cli
