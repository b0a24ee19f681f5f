// reprise answer: stores an answer of another program's loop while it arrives.

#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/file.h"
#include "base/utf8.h"
#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/process/input_wait.h"
#include "cli/program/interrupts.h"
#include "cli/program/store_opener.h"
#include "cli/session/given_session.h"
#include "cli/session/prompt.h"
#include "engine/lease.h"
#include "session/given_answer.h"
#include "session/given_message.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kAnswerPieceBytes = 64 << 10;
constexpr double kLeaseSecondsMax = 86'400;

class AnswerCommand final : public Command {
 public:
  ArgumentTable arguments() override {
    return {
        .options = {{"--model", "MODEL", "begin: the model that answers", &model_},
                    {"--provider", "NAME", "begin: its provider", &provider_},
                    {"--lease",
                     "SECONDS",
                     "begin: how long the answer waits for the next piece (default: 120)",
                     &lease_,
                     {},
                     false,
                     {},
                     {.min = 1, .max = kLeaseSecondsMax}},
                    {"--op", "ID", "begin: the id of this start: a retry with it happens once",
                     &operation_},
                    {"--thinking", "", "add: the text is the model's thinking", &thinking_},
                    {"--incomplete", "", "end: the answer was interrupted", &incomplete_}},
        .arguments = {{"ACTION", "begin, add or end", &action_, true, {"begin", "add", "end"}},
                      {"SEL", kSessionHelp, &sel_, true},
                      {"ANSWER", "the id that begin printed; default: the answer that is running",
                       &answer_}}};
  }

  Result<Exit> run(Context& context) override {
    if (const std::string message = usage_error(context); !message.empty()) {
      return context.console().usage_error(message);
    }
    const auto operation = parse_operation(operation_);
    const auto answer = parse_operation(answer_);
    if (!operation || !answer) {
      return refuse_value(context, operation ? answer.error() : operation.error());
    }
    REPRISE_ASSIGN(Store* const store, context.stores().open_existing());
    REPRISE_ASSIGN(const SessionInfo info, context.stores().select(*store, sel_, Use::change));
    const Interrupts interrupts;
    if (action_ == "begin") {
      return begin(context, *store, info.id,
                   {.operation = *operation, .stop = interrupts.token(), .clock = context.clock()});
    }
    return action_ == "add" ? add(context, *store, info.id, *answer, interrupts.token())
                            : end(context, *store, info.id, *answer);
  }

 private:
  std::string usage_error(const Context& context) const {
    const std::pair<std::string_view, bool> of_begin[] = {{"--model", model_.has_value()},
                                                          {"--provider", provider_.has_value()},
                                                          {"--lease", lease_.has_value()},
                                                          {"--op", operation_.has_value()}};
    for (const auto& [flag, is_given] : of_begin) {
      if (is_given && action_ != "begin") {
        return cat(flag, " belongs to `answer begin`");
      }
    }
    if (thinking_ && (action_ != "add" || context.globals().json)) {
      return "--thinking belongs to `answer add` with text";
    }
    if (incomplete_ && action_ != "end") {
      return "--incomplete belongs to `answer end`";
    }
    return answer_ && action_ == "begin" ? "`answer begin` takes no ANSWER" : "";
  }

  Result<Exit> begin(Context& context, Store& store, const SessionId& id,
                     const AppendContext& how) const {
    GivenAnswer answer{.provider = provider_.value_or(""), .model = model_.value_or("")};
    if (lease_) {
      answer.lease = std::chrono::seconds(*lease_);
    }
    REPRISE_ASSIGN(const OperationId begun, begin_answer(store, id, answer, how));
    if (context.globals().json) {
      context.console().print_json(json::object_of("id", id.str(), "answer", begun.str()));
    } else {
      context.console().out().write(cat(begun.str(), "\n"));
    }
    return Exit::success;
  }

  Result<Exit> add(Context& context, Store& store, const SessionId& id,
                   const std::optional<OperationId>& named, const std::stop_token& stop) const {
    REPRISE_ASSIGN(const Partial answer, find_answer(store, id, named));
    REPRISE_TRY(add_to_answer(store, id, answer, {}));
    LeaseRenewer renewer(store, id, answer.owner.lease.length);
    renewer.set(renewer.hold(), answer.answer);
    if (!context.globals().json) {
      return add_text(store, id, answer, stop);
    }
    auto input = read_input(kGivenBytesMax, "add it in parts");
    const auto blocks = input ? blocks_given(*input) : std::unexpected(std::move(input).error());
    if (!blocks) {
      return refuse_value(context, blocks.error());
    }
    REPRISE_TRY(add_to_answer(store, id, answer, *blocks));
    context.console().print_json(json::object_of("id", id.str(), "answer", answer.answer.str()));
    return Exit::success;
  }

  Block text_piece(std::string text) const {
    return thinking_ ? Block(ThinkingBlock{std::move(text), "", {}})
                     : Block(TextBlock{std::move(text), {}});
  }

  // Each piece is stored as it arrives. After a stop request, what has arrived is stored.
  Result<Exit> add_text(Store& store, const SessionId& id, const Partial& answer,
                        const std::stop_token& stop) const {
    const InputWait wait(stop);
    std::array<char, kAnswerPieceBytes> piece{};
    std::string text;  // not stored yet
    for (;;) {
      if (const Ready ready = wait.wait(STDIN_FILENO); ready != Ready::input) {
        return ready == Ready::stopped ? Result<Exit>(Exit::interrupted)
                                       : fail(Code::io, "cannot read standard input");
      }
      const ssize_t count = ::read(STDIN_FILENO, piece.data(), piece.size());
      if (count < 0 && errno == EINTR) {
        continue;
      }
      if (count < 0) {
        return std::unexpected(os_error("read", "standard input", errno));
      }
      text.append(piece.data(), static_cast<std::size_t>(count));
      const std::size_t held_back = count == 0 ? 0 : utf8::incomplete_tail(text);
      const std::size_t good =
          utf8::valid_prefix(std::string_view(text).substr(0, text.size() - held_back));
      if (good > 0) {
        const Block block = text_piece(text.substr(0, good));
        REPRISE_TRY(add_to_answer(store, id, answer, {&block, 1}));
        text.erase(0, good);
      }
      if (text.size() > held_back) {
        return fail(Code::invalid_argument,
                    "standard input is not valid UTF-8; what came before is added");
      }
      if (count == 0) {
        return Exit::success;
      }
    }
  }

  Result<Exit> end(Context& context, Store& store, const SessionId& id,
                   const std::optional<OperationId>& named) const {
    std::optional<OperationId> answer = named;
    if (!answer) {
      REPRISE_ASSIGN(const Partial running, find_answer(store, id, answer));
      answer = running.answer;
    }
    REPRISE_ASSIGN(const AppendResult ended,
                   end_answer(store, id, *answer,
                              incomplete_ ? MessageState::incomplete : MessageState::complete,
                              context.clock()));
    print_appended(context, id, ended);
    return Exit::success;
  }

  std::string action_;
  std::string sel_;
  std::optional<std::string> answer_;
  std::optional<std::string> model_;
  std::optional<std::string> provider_;
  std::optional<std::string> operation_;
  std::optional<std::int64_t> lease_;
  bool thinking_ = false;
  bool incomplete_ = false;
};

}  // namespace

std::unique_ptr<Command> make_answer() {
  return std::make_unique<AnswerCommand>();
}

}  // namespace reprise::cli
