// reprise append: stores messages of another program's loop.

#include "cli/commands/command.h"
#include "cli/commands/line_requests.h"
#include "cli/output/session_json.h"
#include "cli/program/interrupts.h"
#include "cli/program/store_opener.h"
#include "cli/session/given_session.h"
#include "cli/session/prompt.h"
#include "session/append.h"
#include "session/given_message.h"

namespace reprise::cli {
namespace {

constexpr std::string_view kRequests = "-";  // instead of a session

class Append final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {{"--new", "", "start a session with the messages", &new_},
                        {"--title", "TITLE", "the title of the new session", &title_},
                        {"--role",
                         "ROLE",
                         "of the text: user, assistant, system or tool (default: user)",
                         &role_,
                         {"user", "assistant", "system", "tool"}},
                        {"--op", "ID", "the id of this append: a retry with it happens once",
                         &operation_}},
            .arguments = {{"SEL",
                           "a number from the last list, an id or a title; last is the newest; "
                           "- with --json reads requests, one per line",
                           &sel_}}};
  }

  Result<Exit> run(Context& context) override {
    if (const std::string_view message = usage_error(context); !message.empty()) {
      return context.console().usage_error(message);
    }
    if (sel_ == kRequests) {
      return run_line_requests(context);
    }
    const auto operation = parse_operation(operation_);
    if (!operation) {
      return refuse_value(context, operation.error());
    }
    auto messages = read_messages(context);
    if (!messages) {
      return refuse_value(context, std::move(messages).error());
    }
    const Interrupts interrupts;
    const AppendContext how{
        .operation = *operation, .stop = interrupts.token(), .clock = context.clock()};
    REPRISE_ASSIGN(const StartedByAppend stored, store(context, *std::move(messages), how));
    print_appended(context, stored.id, stored.appended);
    return Exit::success;
  }

 private:
  std::string_view usage_error(const Context& context) const {
    if (sel_ == kRequests) {
      return context.globals().json && !new_ && !title_ && !role_ && !operation_
                 ? ""
                 : "- reads requests: write `reprise append --json -`";
    }
    if (new_ == sel_.has_value()) {
      return new_ ? "--new takes no session" : "name a session, or start one with --new";
    }
    if (title_ && !new_) {
      return "--title needs --new; `reprise rename` changes a title";
    }
    return role_ && context.globals().json ? "--role and --json cannot be used together" : "";
  }

  Result<std::vector<Message>> read_messages(Context& context) const {
    REPRISE_ASSIGN(std::string input, read_input(kGivenBytesMax, "append it in parts"));
    const Time now = context.clock().now();
    std::vector<Message> messages;
    if (context.globals().json) {
      REPRISE_ASSIGN(messages, messages_given(input, now));
    } else {
      REPRISE_ASSIGN(Message message, text_given(role_.value_or("user"), std::move(input), now));
      messages.push_back(std::move(message));
    }
    if (messages.empty()) {
      return fail(Code::invalid_argument, "standard input has no message");
    }
    return messages;
  }

  // Messages in JSON have their own.
  static void add_author(Context& context, Store& store, std::vector<Message>& messages) {
    if (!context.globals().json) {
      set_given_author(context, store, messages.front());
    }
  }

  Result<StartedByAppend> store(Context& context, std::vector<Message> messages,
                                const AppendContext& how) const {
    if (new_) {
      REPRISE_ASSIGN(Store* const store, context.stores().open(Access::write));
      add_author(context, *store, messages);
      return start_with(*store, new_given_session(context, title_.value_or("")),
                        std::move(messages), how);
    }
    REPRISE_ASSIGN(Store* const store, context.stores().open_existing());
    REPRISE_ASSIGN(const SessionInfo info,
                   context.stores().select(*store, sel_.value_or(""), Use::change));
    add_author(context, *store, messages);
    REPRISE_ASSIGN(const AppendResult appended,
                   append_given(*store, info.id, std::move(messages), how));
    return StartedByAppend{info.id, appended};
  }

  std::optional<std::string> sel_;
  std::optional<std::string> title_;
  std::optional<std::string> role_;
  std::optional<std::string> operation_;
  bool new_ = false;
};

}  // namespace

std::unique_ptr<Command> make_append() {
  return std::make_unique<Append>();
}

}  // namespace reprise::cli
