#include "cli/repl/repl.h"

#include <algorithm>
#include <csignal>
#include <string_view>
#include <system_error>

#include "base/terminal_text.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/output/answer_output.h"
#include "cli/output/session_json.h"
#include "cli/output/table.h"
#include "cli/process/process.h"
#include "cli/session/find_session.h"
#include "cli/session/prompt.h"
#include "cli/settings/program_config.h"
#include "model/texts.h"

namespace reprise::cli {

namespace {

constexpr std::size_t kPromptsRemembered = 100;
constexpr std::size_t kExcerptCharacters = 240;

}  // namespace

Repl::Repl(ReplParts parts, OpenedChat chat)
    : parts_(std::move(parts)), chat_(std::move(chat)), resumable_(parts_.context) {}

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
  return exit_;
}

void Repl::greet() {
  Context& context = parts_.context;
  const Session stored = session().current_session();
  if (parts_.events != nullptr) {
    parts_.events->begin(stored, session().store() != nullptr);
  }
  std::string where = "not saved";
  if (const auto settings = context.config().settings(); settings && session().store() != nullptr) {
    where = cat("saved in ", context.config().store_url(**settings));
  }
  context.console().notice(cat(session().resumed() ? "" : "new ", session().name(), " with ",
                               session().model(), ", ", where,
                               parts_.person ? "; /help lists commands" : ""));
  if (!session().resumed() || session().store() == nullptr) {
    return;
  }
  if (const auto last = last_exchange(*session().store(), session().id()); !last) {
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
  if (const auto prompts = last_prompts(*session().store(), stored, kPromptsRemembered)) {
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
  switch (slash->verb) {
    case SlashVerb::quit:
      return Next::leave;
    case SlashVerb::begin:
      return open({.choice = {.new_session = true, .archive = true}});
    case SlashVerb::resume:
      return run_resume(slash->text);
    case SlashVerb::session:
      return run_session(*slash);
    case SlashVerb::attach:
      return attach(slash->text);
    case SlashVerb::copy:
      return copy_answer();
    default:
      return run_in_session(*slash);
  }
}

Repl::Next Repl::run_in_session(const Slash& slash) {
  if (slash.verb == SlashVerb::retry || slash.verb == SlashVerb::go_on) {
    return turn([&](Conversation& conversation, TurnObserver& observer) {
      return slash.verb == SlashVerb::retry
                 ? conversation.retry(observer, parts_.interrupts.token())
                 : conversation.continue_turn(observer, parts_.interrupts.token());
    });
  }
  const Result<std::string> output = session().run(slash, parts_.interrupts.token());
  if (parts_.interrupts.signal() != 0) {
    return on_stop("stopped");
  }
  return show(output);
}

Repl::Next Repl::show(const Result<std::string>& text) {
  if (!text) {
    return fail_step(text.error());
  }
  // With --json, standard output has only events.
  Output& out =
      parts_.events == nullptr ? parts_.context.console().out() : parts_.context.console().err();
  out.write(*text);
  if (!text->empty() && !text->ends_with('\n')) {
    out.write("\n");
  }
  (void)out.flush();  // a failure is reported at the end
  return Next::proceed;
}

Resumable::Here Repl::here() {
  return {.ids = {session().id()}};
}

Repl::Next Repl::run_resume(const std::string& text) {
  using Action = ResumeRequest::Action;
  const auto request = parse_resume_request(text);
  if (!request) {
    return fail_step(request.error());
  }
  switch (request->action) {
    case Action::list:
      return show(resumable_.list(here()));
    case Action::remove:
      return show(resumable_.remove(request->sel, here()));
    case Action::clear:
      return clear_closed();
    case Action::open:
      break;
  }
  return resume(request->sel);
}

Repl::Next Repl::resume(const std::string& sel) {
  Context& context = parts_.context;
  const auto stored = [&]() -> Result<SessionInfo> {
    REPRISE_ASSIGN(const std::string numbered, resumable_.numbered(sel));
    REPRISE_ASSIGN(const std::string adopted, adopt_session(context, numbered));
    REPRISE_ASSIGN(SessionInfo found, resumable_.find(adopted, sel));
    REPRISE_TRY(resumable_.check_not_open(found, here()));
    return found;
  }();
  if (!stored) {
    return fail_step(stored.error());
  }
  if (stored->id == session().id()) {
    return fail_step({Code::conflict, "that session is open"});
  }
  std::error_code none;
  const bool has_folder =
      stored->mode.empty() && std::filesystem::is_directory(stored->working_dir, none);
  const Next next = open({.choice = {.sel = stored->id.str(), .in_project = true},
                          .folder = has_folder ? stored->working_dir : "",
                          .same_store = true});
  if (session().id() == stored->id) {
    context.console().notice(cat("Resumed session: ", shown_name(*session().store(), *stored)));
  }
  return next;
}

Repl::Next Repl::clear_closed() {
  const auto count = resumable_.count_closed();
  if (!count) {
    return fail_step(count.error());
  }
  if (*count == 0) {
    return show(std::string("No saved sessions to clear."));
  }
  const Input answer = parts_.source.read(
      cat("Clear ", *count, " saved session(s)? They go to the trash.", " [y/N] "),
      parts_.interrupts.token());
  if (answer.kind == Input::Kind::stopped) {
    return on_stop("stopped");
  }
  const std::string word = ascii_lower(trimmed(answer.text));
  return word == "y" || word == "yes" ? show(resumable_.clear_closed()) : Next::proceed;
}

// There is one session at a time.
Repl::Next Repl::run_session(const Slash& slash) {
  using Action = SessionRequest::Action;
  const auto request = parse_session_request(slash.text);
  if (!request) {
    return fail_step(request.error());
  }
  const std::string name = session().current_session().info.title;
  const bool is_this = request->text.empty() || request->text == "1" || request->text == name;
  if ((request->action == Action::go_to || request->action == Action::save) && !is_this) {
    return fail_step({Code::not_found, cat("no open session matches '", request->text,
                                           "'; /resume opens a stored one")});
  }
  switch (request->action) {
    case Action::open:
      return begin_session(*request);
    case Action::list:
    case Action::go_to:
      return show(cat("* 1. ", terminal_line(session().name()), " (",
                      terminal_line(session().current_session().info.working_dir), ")"));
    case Action::rename:
      return run_in_session({SlashVerb::title, request->text, std::nullopt});
    case Action::save:
      return show(session().saved_to());
    case Action::close:
      closes_ = true;
      return Next::leave;
    case Action::describe:
      break;
  }
  return run_in_session({SlashVerb::session, "", std::nullopt});
}

Repl::Next Repl::begin_session(const SessionRequest& request) {
  ChatRequest chat{.choice = {.new_session = true}, .title = request.name};
  if (!request.text.empty()) {
    auto folder = parts_.context.config().folder_named(request.text);
    if (!folder) {
      return fail_step(folder.error());
    }
    chat.folder = *std::move(folder);
  }
  return open(chat);
}

Repl::Next Repl::open(const ChatRequest& request) {
  auto opened = parts_.open(request);
  if (!opened) {
    return fail_step(opened.error());
  }
  finish();
  chat_.session.reset();  // before what it uses
  chat_ = *std::move(opened);
  first_ = {};
  attached_.clear();
  unsaved_ = false;
  failed_ = false;
  greet();
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
  const auto last = session().store() == nullptr
                        ? Result<Exchange>(first_)
                        : last_exchange(*session().store(), session().id());
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
  const Result<Outcome> outcome = ask(session().conversation(), observer);
  session().publish();
  text.finish();
  if (outcome && first_.answer.empty() && !question.empty()) {
    first_ = {.question = std::string(question), .answer = plain_text(outcome->answer)};
  }
  return conclude(outcome);
}

Repl::Next Repl::conclude(const Result<Outcome>& outcome) {
  if (const auto left = session().leave_gone_folder(outcome); !left) {
    parts_.context.console().warn(left.error().message);
  } else if (!left->empty()) {
    parts_.context.console().notice(*left);
  }
  if (outcome && !outcome->saved) {
    unsaved_ = true;
  }
  if (parts_.interrupts.signal() != 0) {
    const std::string advice = session().advice_after(outcome);
    return on_stop(cat(outcome ? "stopped" : "stopped before anything arrived",
                       advice.empty() ? "" : "; ", advice));
  }
  if (outcome && !outcome->error) {
    return Next::proceed;
  }
  fail_step(outcome ? outcome->error.value_or(Error{}) : outcome.error());
  if (const std::string advice = session().advice_after(outcome); !advice.empty()) {
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

Repl::Next Repl::fail_step(const Error& error) {
  failed_ = true;
  parts_.context.console().report(error);
  return Next::proceed;
}

void Repl::finish() {
  const bool was_saved = session().store() != nullptr;
  end_session();
  if (interrupted_) {
    exit_ = std::max(exit_, Exit::interrupted);
  } else if (unsaved_ || !was_saved) {
    exit_ = std::max(exit_, Exit::unsaved);
  } else if (failed_ && !parts_.person) {
    // A user has seen the errors; a script only gets the exit code.
    exit_ = std::max(exit_, Exit::failed);
  }
}

void Repl::end_session() {
  Context& context = parts_.context;
  if (session().store() == nullptr) {
    context.console().notice("this session was not saved");
    return;
  }
  if (!session().is_saved()) {
    if (!session().store()->capabilities().messages) {
      context.console().notice("there was no answer, and nothing is saved");
    } else if (unsaved_) {
      context.console().notice("this session was not saved");
    }
    return;
  }
  if (session().discard_if_empty()) {
    return;
  }
  if (const auto named =
          session().set_closing_title(first_, interrupted_, parts_.interrupts.token());
      !named) {
    context.console().warn(named.error().message);
    unsaved_ = true;
  }
  if (const auto closed = closes_ ? session().close_stored() : Result<>(); !closed) {
    context.console().warn(cat("Failed to save: ", closed.error().message));
    unsaved_ = true;
  }
  const std::string brief_id = session().brief_id();
  context.console().notice(cat(unsaved_ ? "not everything was saved in " : "saved as ",
                               session().name(), "; continue with: ", context.config().program(),
                               " chat -r ", brief_id));
}

}  // namespace reprise::cli
