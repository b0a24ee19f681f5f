// reprise ask: one turn.

#include <algorithm>

#include "base/file.h"
#include "base/json_write.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/output/answer_output.h"
#include "cli/program/interrupts.h"
#include "cli/provider/request_choice.h"
#include "cli/session/find_session.h"
#include "cli/session/prompt.h"
#include "cli/session/tool_consent.h"
#include "cli/settings/context_file.h"
#include "cli/settings/program_config.h"
#include "model/texts.h"

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;

class Ask final : public Command {
 public:
  ArgumentTable arguments() override {
    ArgumentTable table{
        .options = {{"-c,--continue", "", "continue the newest session of this folder", &newest_},
                    {"-r,--resume", "SEL", "continue this session", &sel_},
                    {"--new", "",
                     "start a new session; in a chatdir: store, archive the current one first",
                     &new_},
                    {"-f,--file", "FILE", "attach a text file, an image or a PDF (file or URL)",
                     &files_},
                    {"--go-on", "", "continue an answer that was interrupted", &go_on_},
                    {"--save", "FILE", "also write the answer to a file, replacing it", &save_},
                    {"--no-stream", "", "print the answer only when it is complete", &no_stream_},
                    {"--dry-run", "", "show the request without sending it", &dry_run_}},
        .arguments = {{"PROMPT", "the question; - reads standard input", &words_}}};
    add_run_flags(table, flags_);
    return table;
  }

  Result<Exit> run(Context& context) override {
    if (const std::string_view message = usage_error(); !message.empty()) {
      return context.console().usage_error(message);
    }
    std::optional<JsonAnswer> events;
    if (context.globals().json && !dry_run_) {
      events.emplace(context);
    }
    Result<Exit> exit = turn(context, events ? &*events : nullptr);
    if (!events) {
      return exit;
    }
    if (!exit) {
      context.console().report(exit.error());
    }
    const Exit code = exit ? *exit : exit_for(exit.error().code);
    events->finish(code);
    return code;
  }

 private:
  std::string_view usage_error() const {
    const std::string_view conflict = session_flags_error(newest_, sel_.has_value(), new_);
    if (!conflict.empty()) {
      return conflict;
    }
    if (go_on_ && (!words_.empty() || !files_.empty())) {
      return "--go-on takes no prompt";
    }
    if (go_on_ && (new_ || dry_run_)) {
      return "--go-on cannot be used with --new or --dry-run";
    }
    return save_ && save_->empty() ? "--save needs the name of a file" : "";
  }

  // Before the request: an answer costs money.
  Result<> check_save(Context& context) const {
    const fs::path named = save_.value_or("");
    const fs::path folder = named.parent_path();
    REPRISE_ASSIGN(const FileKind in, folder.empty() ? FileKind::folder : kind_of_target(folder));
    std::string reason;
    if (in == FileKind::none) {
      reason = cat("there is no folder ", folder.native());
    } else if (in != FileKind::folder) {
      reason = cat(folder.native(), " is not a folder");
    } else {
      REPRISE_ASSIGN(const FileKind kind, kind_of_target(named));
      reason = kind == FileKind::folder || named.filename().empty() ? "it is a folder"
               : kind == FileKind::none || kind == FileKind::file   ? ""
                                                                    : "it is not a regular file";
    }
    if (!reason.empty()) {
      return fail(Code::invalid_argument, cat("cannot write ", named.native(), ": ", reason));
    }
    REPRISE_TRY(refuse_store_file(context, named));
    REPRISE_ASSIGN(const fs::path file, resolve_path(named));
    REPRISE_TRY(check_target(file));
    REPRISE_TRY(TemporaryFile::create(file));  // removed again
    return {};
  }

  Result<std::string> prompt() const {
    std::vector<std::string> words = words_;
    const bool dash = std::erase(words, "-") > 0;
    std::string piped;
    if (dash || input_is_piped()) {
      REPRISE_ASSIGN(piped, read_input());
    }
    return join_prompt(words, piped);
  }

  Result<std::vector<Block>> blocks(const std::string& prompt) const {
    std::vector<Block> out;
    if (!prompt.empty()) {
      out.emplace_back(TextBlock{prompt, {}});
    }
    for (const std::string& file : files_) {
      REPRISE_ASSIGN(Block block, attach_file(file));
      out.push_back(std::move(block));
    }
    return out;
  }

  StartRequest start_request(Context& context, const std::string& prompt) const {
    return {.flags = flags_,
            .session = {.newest = newest_ || (go_on_ && !sel_),
                        .sel = sel_,
                        .new_session = new_,
                        .archive = new_,
                        .mode_path = context.config().working_dir()},
            .title = title_from_prompt(prompt),
            .stream = !no_stream_,
            .dry_run = dry_run_,
            .continue_turn = go_on_};
  }

  Result<Exit> turn(Context& context, JsonAnswer* events) {
    if (const std::string message = run_flag_error(context, flags_); !message.empty()) {
      return context.console().usage_error(message);
    }
    std::string prompt;
    if (!go_on_) {
      REPRISE_ASSIGN(prompt, this->prompt());
      if (trimmed(prompt).empty() && files_.empty()) {
        return context.console().usage_error(
            "nothing to ask; give a prompt, pipe one in, or attach a file");
      }
      if (const auto checked = model::check_text("the prompt", prompt); !checked) {
        return context.console().usage_error(checked.error().message);
      }
    }
    if (save_ && !dry_run_) {
      REPRISE_TRY(check_save(context));
    }
    if (sel_ && !dry_run_) {
      REPRISE_ASSIGN(sel_, adopt_session(context, *sel_));
    }
    const Interrupts interrupts;
    ToolConsents consents(context);
    StartRequest request = start_request(context, prompt);
    request.approver = ask_for_consent(context, consents, interrupts);
    request.stop = interrupts.token();
    REPRISE_ASSIGN(std::vector<Block> blocks, this->blocks(prompt));
    request.has_pdf_by_url = std::ranges::any_of(blocks, is_pdf_by_url);
    REPRISE_ASSIGN(const std::unique_ptr<StartedSession> started,
                   start_session(context, std::move(request)));
    consents.begin(started->conversation->session().info.working_dir);
    if (started->recovered && !go_on_) {
      context.console().notice("the last answer was interrupted; --go-on continues it");
    }
    if (dry_run_) {
      return show_request(context, *started, std::move(blocks));
    }
    return answer(context, *started, std::move(blocks), events, interrupts);
  }

  static Result<Exit> show_request(Context& context, StartedSession& started,
                                   std::vector<Block> blocks) {
    REPRISE_ASSIGN(const std::string request, started.conversation->dry_run(std::move(blocks)));
    if (context.globals().json) {
      context.console().print_json(json::object_of("event", "request", "text", request));
    } else {
      context.console().out().write(context.console().out().is_terminal() ? terminal_text(request)
                                                                          : request);
      context.console().out().write(request.ends_with('\n') ? "" : "\n");
    }
    return Exit::success;
  }

  Result<Exit> answer(Context& context, StartedSession& started, std::vector<Block> blocks,
                      JsonAnswer* events, const Interrupts& interrupts) {
    TextAnswer text(context);
    if (events != nullptr) {
      const bool may_be_another = !started.resumed && started.store != nullptr &&
                                  !started.store->capabilities().many_sessions;
      may_be_another ? events->begin_later(*started.conversation)
                     : events->begin(started.conversation->session(), started.store != nullptr);
    }
    TurnObserver& observer = events == nullptr ? static_cast<TurnObserver&>(text) : *events;
    auto outcome = go_on_
                       ? started.conversation->continue_turn(observer, interrupts.token())
                       : started.conversation->ask(std::move(blocks), observer, interrupts.token());
    text.finish();
    if (events != nullptr) {
      events->begin_now();
    }
    const auto left = leave_gone_folder(started, outcome);
    if (!outcome) {
      return std::unexpected(std::move(outcome).error());
    }
    if (!left) {
      context.console().warn(left.error().message);
    } else if (!left->empty()) {
      context.console().notice(*left);
    }
    return conclude(context, *outcome, started.store);
  }

  Result<Exit> conclude(Context& context, const Outcome& outcome, const Store* store) const {
    const bool stored = outcome.saved && store != nullptr;
    if (outcome.error) {
      // A whole answer that does not match its schema cannot be continued.
      const bool goes_on = outcome.error->code == Code::cancelled ||
                           outcome.answer.state == MessageState::incomplete;
      return conclude_cut(context, *outcome.error,
                          stored && store->capabilities().messages && goes_on);
    }
    if (!save_) {
      save_by_default(context, outcome.answer);
    } else if (const auto written = write_answer(outcome.answer); !written) {
      context.console().report(written.error());
      return stored ? exit_for(written.error().code) : Exit::unsaved;
    }
    return stored ? Exit::success : Exit::unsaved;
  }

  // Only whole answers replace a file. A store without messages cannot hold a partial answer.
  Result<Exit> conclude_cut(Context& context, Error error, bool stored) const {
    const std::string unchanged = save_ ? cat("; ", *save_, " is not written") : "";
    if (error.code == Code::cancelled) {
      context.console().notice(
          cat(stored ? "stopped; `reprise ask --go-on` continues the answer"
                     : "stopped; the part of the answer that arrived is not saved",
              unchanged));
      return stored ? Exit::interrupted : Exit::unsaved;
    }
    error.message += cat(stored ? "; `reprise ask --go-on` continues the answer" : "", unchanged);
    return std::unexpected(std::move(error));
  }

  Result<> write_answer(const Message& answer) const {
    REPRISE_ASSIGN(const fs::path file, resolve_path(save_.value_or("")));
    return replace_file(file, cat(plain_text(answer), "\n"));
  }

  // The answer is already stored, so failing to write the extra file is only a warning.
  static void save_by_default(Context& context, const Message& answer) {
    const auto settings = context.config().settings();
    if (!settings || !(*settings)->save_path) {
      return;
    }
    const auto saved =
        save_answer(**settings, context.config().state_folder(), cat(plain_text(answer), "\n"));
    if (!saved) {
      context.console().warn(saved.error().message);
    }
  }

  RunFlags flags_;
  std::vector<std::string> words_;
  std::vector<std::string> files_;
  std::optional<std::string> sel_;
  std::optional<std::string> save_;
  bool newest_ = false;
  bool new_ = false;
  bool go_on_ = false;
  bool no_stream_ = false;
  bool dry_run_ = false;
};

}  // namespace

std::unique_ptr<Command> make_ask() {
  return std::make_unique<Ask>();
}

}  // namespace reprise::cli
