#include "cli/commands/run_chat.h"
#include "cli/program/store_opener.h"
#include "cli/repl/line_source.h"
#include "cli/repl/menu.h"
#include "cli/session/removal.h"
#include "cli/settings/settings.h"

namespace reprise::cli {

namespace {

constexpr std::size_t kShown = 20;
constexpr int kAnswersMax = 5;

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

}  // namespace

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

}  // namespace reprise::cli
