#include "cli/repl/repl.h"

#include <csignal>
#include <string_view>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/output/answer_output.h"
#include "cli/output/session_json.h"
#include "cli/output/table.h"
#include "cli/process/process.h"
#include "cli/session/prompt.h"
#include "cli/settings/program_config.h"
#include "model/texts.h"

namespace reprise::cli {

namespace {

constexpr std::size_t kPromptsRemembered = 100;
constexpr std::size_t kExcerptCharacters = 240;

}  // namespace

Repl::Repl(const ReplParts& parts, ChatSession session)
    : parts_(parts), session_(std::move(session)) {}

Exit Repl::run() {
  greet();
  Next next = Next::proceed;
  while (next == Next::proceed) {
    const Input input = parts_.source.read(parts_.person ? "> " : "", parts_.interrupts.token());
    if (input.kind == Input::Kind::text) {
      next = step(input);
    } else if (input.kind == Input::Kind::stopped) {
      next = on_stop("press Ctrl-C again or Ctrl-D to quit");
    } else {
      next = Next::leave;
    }
  }
  finish();
  if (interrupted_) {
    return Exit::interrupted;
  }
  if (unsaved_ || session_.store() == nullptr) {
    return Exit::unsaved;
  }
  // A user has seen the errors; a script only gets the exit code.
  return failed_ && !parts_.person ? Exit::failed : Exit::success;
}

void Repl::greet() {
  Context& context = parts_.context;
  const Session session = session_.current_session();
  if (parts_.events != nullptr) {
    parts_.events->begin(session, session_.store() != nullptr);
  }
  std::string where = "not saved";
  if (const auto settings = context.config().settings(); settings && session_.store() != nullptr) {
    where = cat("saved in ", context.config().store_url(**settings));
  }
  context.console().notice(cat(session_.resumed() ? "" : "new ", session_.name(), " with ",
                               session_.model(), ", ", where,
                               parts_.person ? "; /help lists commands" : ""));
  if (!session_.resumed() || session_.store() == nullptr) {
    return;
  }
  if (const auto last = last_exchange(*session_.store(), session_.id()); !last) {
    context.console().warn(cat("the last exchange cannot be read: ", last.error().message));
  } else if (!last->question.empty() && parts_.events == nullptr) {
    context.console().notice(cat("you: ", excerpt(last->question, kExcerptCharacters)));
    if (!last->answer.empty()) {
      context.console().notice(cat("answer: ", excerpt(last->answer, kExcerptCharacters)));
    }
    if (last->incomplete) {
      context.console().notice("that answer was interrupted; /go-on continues it");
    }
  }
  if (const auto prompts = last_prompts(*session_.store(), session, kPromptsRemembered)) {
    for (const std::string& prompt : *prompts) {
      parts_.source.remember(prompt);
    }
  }
}

Repl::Next Repl::step(const Input& input) {
  if (trimmed(input.text).empty()) {
    return Next::proceed;
  }
  stopped_at_.reset();
  parts_.source.remember(input.text);
  if (is_slash(input.text)) {
    return command(input.text);
  }
  if (input.truncated) {
    parts_.context.console().warn(
        cat("only the first ", kInputBytesMax >> 20, " MiB of this are sent"));
  }
  std::string text(message_of(input.text));
  if (input.truncated) {
    text.resize(text.size() - utf8::incomplete_tail(text));
  }
  if (const auto checked = model::check_text("the message", text); !checked) {
    fail_step(checked.error());
    return Next::proceed;
  }
  std::vector<Block> blocks = std::exchange(attached_, {});
  blocks.insert(blocks.begin(), TextBlock{std::move(text), {}});
  return turn(
      [&](Conversation& conversation, TurnObserver& observer) {
        return conversation.ask(blocks, observer, parts_.interrupts.token());
      },
      input.text);
}

Repl::Next Repl::command(std::string_view line) {
  const Result<Slash> slash = parse_slash(line);
  if (!slash) {
    fail_step(slash.error());
    return Next::proceed;
  }
  if (slash->verb == SlashVerb::quit) {
    return Next::leave;
  }
  if (slash->verb == SlashVerb::begin) {
    starts_another_ = true;
    return Next::leave;
  }
  if (slash->verb == SlashVerb::attach) {
    return attach(slash->text);
  }
  if (slash->verb == SlashVerb::copy) {
    return copy_answer();
  }
  if (slash->verb == SlashVerb::retry || slash->verb == SlashVerb::go_on) {
    return turn([&](Conversation& conversation, TurnObserver& observer) {
      return slash->verb == SlashVerb::retry
                 ? conversation.retry(observer, parts_.interrupts.token())
                 : conversation.continue_turn(observer, parts_.interrupts.token());
    });
  }
  const Result<std::string> output = session_.run(*slash, parts_.interrupts.token());
  if (parts_.interrupts.signal() != 0) {
    return on_stop("stopped");
  }
  if (!output) {
    fail_step(output.error());
    return Next::proceed;
  }
  // With --json, standard output has only events.
  Output& out =
      parts_.events == nullptr ? parts_.context.console().out() : parts_.context.console().err();
  out.write(*output);
  (void)out.flush();  // a failure is reported at the end
  return Next::proceed;
}

Repl::Next Repl::attach(const std::string& file) {
  Context& context = parts_.context;
  if (file == "-") {
    attached_.clear();
    return Next::proceed;
  }
  const bool is_url = file.contains("://");
  auto block = attach_file(is_url ? file : context.config().path_named(file).string());
  if (!block) {
    fail_step(block.error());
    return Next::proceed;
  }
  attached_.push_back(*std::move(block));
  context.console().notice(cat("attached ", file, "; it is sent with the next message"));
  return Next::proceed;
}

// Copies through the terminal's clipboard.
Repl::Next Repl::copy_answer() {
  Context& context = parts_.context;
  const auto last = session_.store() == nullptr ? Result<Exchange>(first_)
                                                : last_exchange(*session_.store(), session_.id());
  const std::string text = last ? last->answer : "";
  Output& out = context.console().out();
  if (!last || text.empty()) {
    fail_step(last ? Error{Code::not_found, "there is no answer to copy"} : last.error());
  } else if (!out.is_terminal()) {
    fail_step({Code::unsupported, "/copy needs a terminal; /save FILE writes the transcript"});
  } else if (text.size() > kCopyBytesMax) {
    fail_step({Code::unsupported, cat("the answer has ", text.size(),
                                      " bytes, and the clipboard limit of terminals is ",
                                      kCopyBytesMax, " bytes; /save FILE writes the transcript")});
  } else {
    out.write(copy_sequence(text));
    (void)out.flush();  // a failure is reported at the end
    context.console().notice("copied, if the terminal allows it");
  }
  return Next::proceed;
}

Repl::Next Repl::turn(const Turn& ask, std::string_view question) {
  TextAnswer text(parts_.context);
  TurnObserver& observer =
      parts_.events == nullptr ? static_cast<TurnObserver&>(text) : *parts_.events;
  const Result<Outcome> outcome = ask(session_.conversation(), observer);
  session_.publish();
  text.finish();
  if (outcome && first_.answer.empty() && !question.empty()) {
    first_ = {.question = std::string(question), .answer = plain_text(outcome->answer)};
  }
  return conclude(outcome);
}

Repl::Next Repl::conclude(const Result<Outcome>& outcome) {
  if (const auto left = session_.leave_gone_folder(outcome); !left) {
    parts_.context.console().warn(left.error().message);
  } else if (!left->empty()) {
    parts_.context.console().notice(*left);
  }
  if (outcome && !outcome->saved) {
    unsaved_ = true;
  }
  if (parts_.interrupts.signal() != 0) {
    const std::string advice = session_.advice_after(outcome);
    return on_stop(cat(outcome ? "stopped" : "stopped before anything arrived",
                       advice.empty() ? "" : "; ", advice));
  }
  if (outcome && !outcome->error) {
    return Next::proceed;
  }
  fail_step(outcome ? outcome->error.value_or(Error{}) : outcome.error());
  if (const std::string advice = session_.advice_after(outcome); !advice.empty()) {
    parts_.context.console().notice(advice);
  }
  return Next::proceed;
}

// Handles a signal. Shows `advice` if the loop continues.
Repl::Next Repl::on_stop(std::string_view advice) {
  const auto now = std::chrono::steady_clock::now();
  const bool is_double_press =
      parts_.interrupts.count() > 1 || (stopped_at_ && now - *stopped_at_ < kDoublePressWindow);
  if (parts_.interrupts.signal() != SIGINT || is_double_press || !parts_.person) {
    interrupted_ = true;
    return Next::leave;
  }
  stopped_at_ = now;
  parts_.interrupts.reset();
  parts_.context.console().notice(advice);
  return Next::proceed;
}

void Repl::fail_step(const Error& error) {
  failed_ = true;
  parts_.context.console().report(error);
}

void Repl::finish() {
  Context& context = parts_.context;
  if (session_.store() == nullptr) {
    context.console().notice("this session was not saved");
    return;
  }
  if (!session_.is_saved()) {
    if (!session_.store()->capabilities().messages) {
      context.console().notice("there was no answer, and nothing is saved");
    } else if (unsaved_) {
      context.console().notice("this session was not saved");
    }
    return;
  }
  if (session_.discard_if_empty()) {
    return;
  }
  if (const auto named =
          session_.set_closing_title(first_, interrupted_, parts_.interrupts.token());
      !named) {
    context.console().warn(named.error().message);
    unsaved_ = true;
  }
  context.console().notice(cat(unsaved_ ? "not everything was saved in " : "saved as ",
                               session_.name(), "; continue with: ", context.config().program(),
                               " chat -r ", session_.brief_id()));
}

}  // namespace reprise::cli
