#include "cli/commands/run_chat.h"

#include <unistd.h>

#include <algorithm>

#include "cli/app/app.h"
#include "cli/output/answer_output.h"
#include "cli/program/interrupts.h"
#include "cli/program/store_opener.h"
#include "cli/repl/menu.h"
#include "cli/repl/repl.h"
#include "cli/session/find_session.h"
#include "cli/session/removal.h"
#include "cli/session/tool_consent.h"

namespace reprise::cli {

namespace {

constexpr std::size_t kShown = 20;
constexpr int kAnswersMax = 5;

bool can_edit(const Context& context) {
  const std::string term = context.environment().find("TERM").value_or("dumb");
  return context.console().can_ask() && term != "dumb";
}

std::unique_ptr<LineSource> open_source(Context& context) {
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
Result<SessionPage> newest_sessions(Context& context, bool all) {
  const auto store = context.stores().open(Access::read);
  if (!store && store.error().code == Code::not_found) {
    return SessionPage{};
  }
  if (!store) {
    return std::unexpected(store.error());
  }
  SessionQuery query{.limit = kShown};
  if (!all && (*store)->capabilities().many_folders) {
    query.working_dir = context.config().project();
  }
  return (*store)->list(query);
}

Result<> show_menu(Context& context, const SessionPage& page, bool all) {
  Output& out = context.globals().json ? context.console().err() : context.console().out();
  out.write(
      menu_text(page.sessions, context.clock().now(), static_cast<std::size_t>(out.columns())));
  REPRISE_TRY(out.flush());
  if (!page.next.empty()) {
    context.console().notice(cat("these are the newest ", page.sessions.size(), "; `reprise list",
                                 all ? " --all" : "",
                                 "` shows more, `reprise resume SEL` accepts any"));
  }
  return {};
}

// Asks the user to choose a session by its number. nullopt if the user cancels or there are no
// sessions, which is reported. cancelled on a stop request, invalid_argument after too many invalid
// answers. `all`: sessions of all folders.
Result<std::optional<SessionId>> choose_session(Context& context, LineSource& source, bool all,
                                                const std::stop_token& stop) {
  REPRISE_ASSIGN(const SessionPage page, newest_sessions(context, all));
  warn_of_damage(context, page.damage);
  if (page.sessions.empty()) {
    Output& out = context.globals().json ? context.console().err() : context.console().out();
    out.write(cat(kNothingSaved, "\n"));
    if (!all) {
      context.console().notice("--all looks in all folders");
    }
    return std::nullopt;
  }
  REPRISE_TRY(show_menu(context, page, all));
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

struct ChatParts {
  LineSource& source;
  Interrupts& interrupts;
  JsonAnswer* events;
};
struct Ended {
  Exit exit;
  bool starts_another;
};

// Runs one session until the user leaves it.
Result<Ended> run_chat_once(Context& context, const ChatRequest& request, const ChatParts& parts) {
  ToolConsents consents(context);
  const Approver approver = ask_for_consent(context, consents);
  REPRISE_ASSIGN(std::unique_ptr<StartedSession> started,
                 start_session(context, {.flags = request.flags,
                                         .session = {.newest = request.newest,
                                                     .sel = request.sel,
                                                     .fresh = request.fresh,
                                                     .archive = request.fresh,
                                                     .mode_path = request.mode_path,
                                                     .in_project = true},
                                         .title = "",
                                         .approver = approver,
                                         .stop = parts.interrupts.token()}));
  consents.begin(started->conversation->session().info.working_dir);
  ChatSession session(context, request.flags, approver, std::move(started));
  Repl repl({.context = context,
             .source = parts.source,
             .interrupts = parts.interrupts,
             .events = parts.events,
             .person = ::isatty(STDIN_FILENO) == 1},
            std::move(session));
  const Exit exit = repl.run();
  return Ended{exit, repl.starts_another()};
}

Result<Exit> run_chat(Context& context, ChatRequest& request, JsonAnswer* events) {
  // Created before the editor, whose destructor restores the terminal even after a signal.
  Interrupts interrupts(kReplPatience);
  const std::unique_ptr<LineSource> source = open_source(context);
  if (request.choose) {
    REPRISE_ASSIGN(const std::optional<SessionId> chosen,
                   choose_session(context, *source, request.all, interrupts.token()));
    if (!chosen) {
      return Exit::done;
    }
    request.sel = chosen->str();
  }
  for (Exit exit = Exit::done;;) {
    REPRISE_ASSIGN(const Ended ended,
                   run_chat_once(context, request, {*source, interrupts, events}));
    exit = std::max(exit, ended.exit);
    if (!ended.starts_another) {
      return exit;
    }
    // The command line selects only the first session.
    request.newest = false;
    request.sel.reset();
    request.fresh = true;
  }
}
}  // namespace

Result<Exit> run_chat(Context& context, ChatRequest request) {
  if (request.sel) {
    REPRISE_ASSIGN(request.sel, adopt_session(context, *request.sel));
  }
  if (!request.plain && !context.globals().json && app::can_run_app(context)) {
    const std::string sel = request.newest ? "last" : request.sel.value_or("");
    // These flags apply to a new session.
    const bool fresh = request.fresh || request.flags.mode || request.flags.system;
    auto exit = app::run_app(
        context,
        {.flags = request.flags,
         .mode_path = request.mode_path,
         .begin = request.fresh,
         .start = {.sel = sel, .fresh = fresh, .pick = request.choose, .all = request.all}});
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
  events.done(code);
  return code;
}

}  // namespace reprise::cli
