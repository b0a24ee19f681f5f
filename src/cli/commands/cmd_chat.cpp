// reprise chat, resume: a conversation of several turns, on the full screen or line by line.

#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "choice/provider_names.h"
#include "cli/app/app.h"
#include "cli/commands/command.h"
#include "cli/output/answer_output.h"
#include "cli/process/process.h"
#include "cli/program/context.h"
#include "cli/program/interrupts.h"
#include "cli/program/store_opener.h"
#include "cli/provider/provider_choice.h"
#include "cli/provider/request_choice.h"
#include "cli/repl/menu.h"
#include "cli/repl/repl.h"
#include "cli/session/find_session.h"
#include "cli/session/tool_consent.h"
#include "cli/settings/program_config.h"
#include "cli/settings/run_flags.h"
#include "reprise/sessions.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kShown = 20;
constexpr int kAnswersMax = 5;
constexpr std::chrono::milliseconds kProbeTimeout{500};

bool can_edit(const Context& context) {
  const std::string term = context.environment().find("TERM").value_or("dumb");
  return context.console().can_ask() && term != "dumb";
}

std::unique_ptr<LineSource> open_line_source(Context& context) {
  if (can_edit(context)) {
    if (auto editor = make_edit_source()) {
      return *std::move(editor);
    } else {
      context.console().note(editor.error().message);
    }
  }
  return make_plain_source({.input_fd = STDIN_FILENO, .show = [&context](std::string_view prompt) {
                              context.console().err().write(prompt);
                              // A failure of standard error cannot be reported.
                              (void)context.console().err().flush();
                            }});
}

// An empty page if there is no store yet; none is created.
Result<SessionPage> newest_sessions(Context& context, bool all_folders) {
  const auto store = context.stores().open(Access::read);
  if (!store && store.error().code == Code::not_found) {
    REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
    // The original of chain: files says that nothing is saved when there is no file.
    const bool is_chain = context.config().store_url(*settings).starts_with("chain:");
    if (is_chain || context.stores().is_first_use(store.error())) {
      return SessionPage{};
    }
  }
  if (!store) {
    return std::unexpected(store.error());
  }
  SessionQuery query{.limit = kShown};
  if (!all_folders && (*store)->capabilities().many_folders) {
    query.working_dir = context.config().project();
  }
  return (*store)->list(query);
}

Result<> show_menu(Context& context, const SessionPage& page, bool all_folders) {
  Output& out = context.globals().json ? context.console().err() : context.console().out();
  out.write(
      menu_text(page.sessions, context.clock().now(), static_cast<std::size_t>(out.columns())));
  REPRISE_TRY(out.flush());
  if (!page.next.empty()) {
    context.console().notice(cat("these are the newest ", page.sessions.size(), "; `reprise list",
                                 all_folders ? " --all" : "",
                                 "` shows more, `reprise resume SEL` accepts any"));
  }
  return {};
}

// Asks the user to choose a session by its number. nullopt if the user cancels or there are no
// sessions, which is reported. cancelled on a stop request, invalid_argument after too many invalid
// answers.
Result<std::optional<SessionId>> choose_session(Context& context, LineSource& source,
                                                bool all_folders, const std::stop_token& stop) {
  REPRISE_ASSIGN(const SessionPage page, newest_sessions(context, all_folders));
  warn_of_damage(context, page.damage);
  if (page.sessions.empty()) {
    Output& out = context.globals().json ? context.console().err() : context.console().out();
    out.write(cat(kNothingSaved, "\n"));
    if (!all_folders) {
      context.console().notice("--all looks in all folders");
    }
    return std::nullopt;
  }
  REPRISE_TRY(show_menu(context, page, all_folders));
  REPRISE_TRY(context.stores().remember_numbers(page.sessions));
  for (int i = 0; i < kAnswersMax; ++i) {
    const Input input = source.read(kMenuQuestion, stop);
    if (input.kind == Input::Kind::stopped) {
      return fail(Code::cancelled, "nothing chosen");
    }
    if (input.kind == Input::Kind::end) {
      return std::nullopt;
    }
    const MenuAnswer answer = parse_menu_answer(input.text, page.sessions.size());
    if (answer.kind == MenuAnswer::Kind::cancel) {
      return std::nullopt;
    }
    if (answer.kind == MenuAnswer::Kind::number) {
      return page.sessions[answer.index].id;
    }
    context.console().notice(cat("enter a number from 1 to ", page.sessions.size(), ", or q"));
  }
  return fail(Code::invalid_argument, "no session chosen");
}

struct ChatCommand {
  RunFlags flags = {};
  bool newest = false;                            // -c
  bool new_session = false;                       // --new
  std::optional<std::string> sel = std::nullopt;  // -r SEL
  bool choose = false;                            // choose from the menu
  bool all_folders = false;                       // the menu lists sessions of all folders
  bool plain = false;                             // line by line, even on a terminal
  std::filesystem::path mode_path = {};
};

Result<OpenedChat> open_chat(Context& context, const ChatCommand& command,
                             const Interrupts& interrupts, const ChatRequest& request) {
  OpenedChat out{.own_context = context_in(context, request.folder, request.same_store),
                 .consents = std::make_unique<ToolConsents>(context)};
  Context& own = out.own_context == nullptr ? context : *out.own_context;
  const Approver approver = ask_for_consent(context, *out.consents, interrupts);
  REPRISE_ASSIGN(std::unique_ptr<StartedSession> started,
                 start_session(own, {.flags = command.flags,
                                     .session = request.choice,
                                     .title = request.title,
                                     .approver = approver,
                                     .stop = interrupts.token()}));
  out.consents->begin(started->conversation->session().info.working_dir);
  out.session = std::make_unique<ChatSession>(own, command.flags, approver, std::move(started));
  return out;
}

Result<Exit> run_chat(Context& context, ChatCommand& command, JsonAnswer* events) {
  // Created before the editor, whose destructor restores the terminal even after a signal.
  Interrupts interrupts(kInterruptsMax);
  const std::unique_ptr<LineSource> source = open_line_source(context);
  if (command.choose) {
    REPRISE_ASSIGN(const std::optional<SessionId> chosen,
                   choose_session(context, *source, command.all_folders, interrupts.token()));
    if (!chosen) {
      return Exit::success;
    }
    command.sel = chosen->str();
  }
  const auto open = [&](const ChatRequest& request) {
    return open_chat(context, command, interrupts, request);
  };
  REPRISE_ASSIGN(OpenedChat first, open({.choice = {.newest = command.newest,
                                                    .sel = command.sel,
                                                    .new_session = command.new_session,
                                                    .archive = command.new_session,
                                                    .mode_path = command.mode_path,
                                                    .in_project = true}}));
  Repl repl({.context = context,
             .source = *source,
             .interrupts = interrupts,
             .open = open,
             .events = events,
             .person = ::isatty(STDIN_FILENO) == 1},
            std::move(first));
  return repl.run();
}

// Before the app opens, which would show an empty session. It reports an unreachable server itself.
Result<> check_session(Context& context, const std::string& sel) {
  const auto store = context.stores().open(Access::read);
  if (!store) {
    return store.error().code == Code::not_found ? Result<>(std::unexpected(store.error()))
                                                 : Result<>();
  }
  const auto found = context.stores().select(**store, sel, Use::change);
  return !found && found.error().code == Code::not_found ? Result<>(std::unexpected(found.error()))
                                                         : Result<>();
}

Result<Exit> run_chat(Context& context, ChatCommand request) {
  if (const std::string message = run_flag_error(context, request.flags); !message.empty()) {
    return context.console().usage_error(message);
  }
  if (request.sel) {
    REPRISE_ASSIGN(request.sel, adopt_session(context, *request.sel));
  }
  if (!request.plain && !context.globals().json && app::can_run_app(context)) {
    if (request.sel) {
      REPRISE_TRY(check_session(context, *request.sel));
    }
    const std::string sel = request.newest ? "last" : request.sel.value_or("");
    // These flags apply to a new session.
    const bool new_session = request.new_session || request.flags.mode || request.flags.system;
    auto exit = app::run_app(context, {.flags = request.flags,
                                       .mode_path = request.mode_path,
                                       .begin = request.new_session,
                                       .start = {.sel = sel,
                                                 .new_session = new_session,
                                                 .pick = request.choose,
                                                 .all_folders = request.all_folders}});
    if (exit || exit.error().code != Code::unsupported) {
      return exit;
    }
    context.console().note(exit.error().message);
  }
  if (!context.globals().json) {
    return run_chat(context, request, nullptr);
  }
  JsonAnswer events(context);
  const Result<Exit> exit = run_chat(context, request, &events);
  if (!exit) {
    context.console().report(exit.error());
  }
  const Exit code = exit ? *exit : exit_for(exit.error().code);
  events.finish(code);
  return code;
}

bool lacks_provider(Context& context, const RunFlags& flags) {
  if (flags.provider || flags.base_url) {
    return false;
  }
  const auto expected = expected_provider(context);
  return expected && expected->name.empty() && local_servers(context, kProbeTimeout).empty();
}

// Offers ways to get a provider if none is available. False if the user quits.
Result<bool> offer_provider(Context& context, RunFlags& flags) {
  Console& console = context.console();
  while (lacks_provider(context, flags)) {
    console.err().write(
        cat("No provider is set up, and no local model server answers.\n\n"
            "  s  set one up now (reprise setup)\n"
            "  l  look again for a local server, such as Ollama or LM Studio\n"
            "  e  try the built-in model echo, which repeats your message\n"
            "  q  quit\n\n"
            "Or set ",
            key_variables(" or "), " and start again.\n"));
    switch (console.ask_key("s, l, e or q? [e]", "sleq", 'e')) {
      case 's': {
        REPRISE_ASSIGN(const Exit exit, make_setup()->run(context));
        context.config().forget_settings();
        if (exit != Exit::success) {
          return false;
        }
        break;
      }
      case 'l':
        break;
      case 'e':
        flags.provider = "echo";
        break;
      default:
        return false;
    }
  }
  return true;
}

class Chat final : public Command {
 public:
  ArgumentTable arguments() override {
    ArgumentTable table{
        .options = {{"-c,--continue", "", "continue the newest session of this folder", &newest_},
                    {.names = "-r,--resume",
                     .value = "SEL",
                     .help = "continue this session; without SEL, choose from a menu",
                     .target = &sel_,
                     .value_optional = true},
                    {"--new", "",
                     "start a new session; in a chatdir: store, archive the current one first",
                     &new_},
                    {"-a,--all", "", "offer the sessions of all folders", &all_},
                    {"--plain", "", "work line by line, even on a terminal", &plain_}},
        .arguments = {{"PATH", "the folder, for a mode that takes one", &path_}}};
    add_run_flags(table, flags_);
    return table;
  }

  Result<Exit> run(Context& context) override {
    if (const auto conflict = session_flags_error(newest_, sel_.has_value(), new_);
        !conflict.empty()) {
      return context.console().usage_error(conflict);
    }
    if (path_ && !flags_.mode && find_command(*path_) != nullptr) {
      return context.console().usage_error(command_first(*path_));
    }
    if (path_ && (!flags_.mode || newest_ || sel_)) {
      return context.console().usage_error(
          "a folder can only be given with --mode and a new session");
    }
    if (path_) {
      REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
      REPRISE_ASSIGN(const Mode* const mode, find_mode(*settings, flags_));
      if (mode != nullptr && mode->path == PathPolicy::none) {
        return context.console().usage_error(
            cat("mode ", mode->name, " takes no folder: leave out '", *path_, "', or set mode.",
                mode->name, ".path to optional"));
      }
    }
    ChatCommand request{.flags = flags_,
                        .newest = newest_,
                        .new_session = new_,
                        .all_folders = all_,
                        .plain = plain_};
    request.choose = sel_ && sel_->empty();
    if (sel_ && !sel_->empty()) {
      request.sel = sel_;
    }
    if (path_) {
      request.mode_path = *path_;
    }
    // a stored session may name its provider
    const bool is_stored = request.newest || request.sel || request.choose;
    if (!is_stored && context.console().can_ask() && !context.globals().json) {
      REPRISE_ASSIGN(const bool proceed, offer_provider(context, request.flags));
      if (!proceed) {
        return Exit::failed;
      }
    }
    return run_chat(context, std::move(request));
  }

 private:
  RunFlags flags_;
  std::optional<std::string> sel_;
  std::optional<std::string> path_;
  bool newest_ = false;
  bool new_ = false;
  bool all_ = false;
  bool plain_ = false;
};

class Resume final : public Command {
 public:
  ArgumentTable arguments() override {
    ArgumentTable table{
        .options = {{"-a,--all", "", "choose from the sessions of all folders", &all_},
                    {"--plain", "", "work line by line, even on a terminal", &plain_}},
        .arguments = {{"SEL", "the session; without it, choose from a menu", &sel_}}};
    add_run_flags(table, flags_);
    return table;
  }

  Result<Exit> run(Context& context) override {
    ChatCommand request{
        .flags = flags_, .sel = sel_, .choose = !sel_, .all_folders = all_, .plain = plain_};
    return run_chat(context, std::move(request));
  }

 private:
  RunFlags flags_;
  std::optional<std::string> sel_;
  bool all_ = false;
  bool plain_ = false;
};

}  // namespace

std::unique_ptr<Command> make_chat() {
  return std::make_unique<Chat>();
}

std::unique_ptr<Command> make_resume() {
  return std::make_unique<Resume>();
}

}  // namespace reprise::cli
