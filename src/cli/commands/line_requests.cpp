#include "cli/commands/line_requests.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/output/session_json.h"
#include "cli/output/show_json.h"
#include "cli/process/line_input.h"
#include "cli/program/interrupts.h"
#include "cli/program/search_files.h"
#include "cli/program/store_opener.h"
#include "cli/repl/slash.h"
#include "cli/session/given_session.h"
#include "reprise/sessions.h"
#include "session/append.h"
#include "session/fork.h"
#include "session/given_message.h"

namespace reprise::cli {
namespace {

constexpr std::int64_t kListedDefault = 50;
constexpr std::int64_t kFoundDefault = 20;

Result<std::size_t> limit_of(const LineRequest& request, std::int64_t otherwise) {
  REPRISE_ASSIGN(const auto limit, request.find_number("limit", 1));
  if (limit.value_or(otherwise) > static_cast<std::int64_t>(kPageMax)) {
    return fail(Code::invalid_argument, cat("'limit' must not be more than ", kPageMax));
  }
  return static_cast<std::size_t>(limit.value_or(otherwise));
}

Result<std::optional<OperationId>> operation_of(const LineRequest& request) {
  REPRISE_ASSIGN(const auto given, request.find_text("op"));
  return parse_operation(given);
}

Result<std::vector<SessionState>> states_of(const LineRequest& request) {
  REPRISE_ASSIGN(const auto named, request.find_text("state"));
  if (!named) {
    return open_states();
  }
  const auto state = parse_session_state(*named);
  if (!state) {
    return fail(Code::invalid_argument,
                cat("'state' must be active, closed, archived or trashed, not '", *named, "'"));
  }
  return std::vector{*state};
}

}  // namespace

struct LineRequests::Kind {
  std::string_view name;
  Result<std::string> (LineRequests::*carry_out)(const LineRequest&);
  std::array<std::string_view, 7> members;  // the first one is "do"
};

std::span<const LineRequests::Kind> LineRequests::kinds() {
  static constexpr Kind kKinds[] = {
      {"open", &LineRequests::open, {"do", "session"}},
      {"create",
       &LineRequests::create,
       {"do", "title", "provider", "model", "working_dir", "system_prompt", "op"}},
      {"append", &LineRequests::append, {"do", "session", "messages", "role", "text", "op"}},
      {"read", &LineRequests::read, {"do", "session", "after", "limit"}},
      {"list", &LineRequests::list, {"do", "all", "state", "mode", "limit", "after"}},
      {"fork", &LineRequests::fork, {"do", "session", "at", "title", "op"}},
      {"rewind", &LineRequests::rewind, {"do", "session", "turns", "op"}},
      {"search", &LineRequests::search, {"do", "words", "session", "limit", "after"}},
      {"todo", &LineRequests::todo, {"do", "session", "add", "set", "status"}},
  };
  return kKinds;
}

Result<std::string> LineRequests::answer(std::string_view line) {
  REPRISE_ASSIGN(const LineRequest request, LineRequest::parse(line));
  REPRISE_ASSIGN(const std::string name, request.text("do"));
  const auto kind = std::ranges::find(kinds(), name, &Kind::name);
  if (kind == kinds().end()) {
    std::vector<std::string_view> names;
    std::ranges::transform(kinds(), std::back_inserter(names), &Kind::name);
    return fail(Code::invalid_argument,
                cat("'do' must be ", alternatives(names), ", not '", name, "'"));
  }
  REPRISE_TRY(request.check_members(
      std::span(kind->members.begin(), std::ranges::find(kind->members, std::string_view()))));
  return (this->*kind->carry_out)(request);
}

Result<SessionInfo> LineRequests::selected(const LineRequest& request, bool changes) {
  REPRISE_ASSIGN(const std::string sel, request.text("session"));
  return context_.stores().select(store_, sel, changes ? Use::change : Use::read,
                                  changes ? open_states() : every_state());
}

Result<std::string> LineRequests::session_result(const SessionId& id) {
  REPRISE_ASSIGN(const Session session, get(store_, id));
  std::string out;
  json::ObjectWriter object(out);
  append_info(object, session.info, brief_id(store_, id));
  object.close();
  return out;
}

Result<std::string> LineRequests::open(const LineRequest& request) {
  REPRISE_ASSIGN(const SessionInfo info, selected(request, true));
  REPRISE_TRY(resume_session(store_, info.id, {.clock = context_.clock(), .stop = stop_}));
  return session_result(info.id);
}

Result<std::string> LineRequests::create(const LineRequest& request) {
  REPRISE_ASSIGN(const auto title, request.find_text("title"));
  REPRISE_ASSIGN(const auto provider, request.find_text("provider"));
  REPRISE_ASSIGN(const auto model, request.find_text("model"));
  REPRISE_ASSIGN(const auto folder, request.find_text("working_dir"));
  REPRISE_ASSIGN(const auto system, request.find_text("system_prompt"));
  REPRISE_ASSIGN(const auto operation, operation_of(request));
  Session session = new_given_session(context_, title.value_or(""));
  session.info.provider = provider.value_or("");
  session.info.model = model.value_or("");
  session.info.working_dir = folder.value_or(session.info.working_dir);
  session.system_prompt = system.value_or("");
  REPRISE_ASSIGN(const SessionId id,
                 create_given(store_, std::move(session),
                              {.operation = operation, .stop = stop_, .clock = context_.clock()}));
  return session_result(id);
}

Result<std::string> LineRequests::append(const LineRequest& request) {
  const Time now = context_.clock().now();
  REPRISE_ASSIGN(const auto role, request.find_text("role"));
  REPRISE_ASSIGN(auto text, request.find_text("text"));
  REPRISE_ASSIGN(const auto operation, operation_of(request));
  const std::string_view given = request.raw("messages");
  if (given.empty() != text.has_value() || (role && !text)) {
    return fail(Code::invalid_argument,
                "an append needs either 'messages', or 'text' and possibly 'role'");
  }
  std::vector<Message> messages;
  if (text) {
    REPRISE_ASSIGN(Message message, text_given(role.value_or("user"), *std::move(text), now));
    set_given_author(context_, store_, message);
    messages.push_back(std::move(message));
  } else {
    REPRISE_ASSIGN(messages, message_array_given(given, now));
  }
  REPRISE_ASSIGN(const SessionInfo info, selected(request, true));
  REPRISE_ASSIGN(const AppendResult appended,
                 append_given(store_, info.id, std::move(messages),
                              {.operation = operation, .stop = stop_, .clock = context_.clock()}));
  return appended_document(info.id, appended);
}

Result<std::string> LineRequests::read(const LineRequest& request) {
  REPRISE_ASSIGN(const auto after, request.find_number("after", 0));
  REPRISE_ASSIGN(const auto limit, request.find_number("limit", 1));
  REPRISE_ASSIGN(const SessionInfo info, selected(request, false));
  REPRISE_ASSIGN(SessionSnapshot snapshot, get_snapshot(store_, info.id));
  ReadRange range = snapshot.range();
  range.from = after ? Seq{std::min(*after, kSeqMax.value)}.next() : Seq{};
  if (limit && *limit <= kSeqMax.value && range.from.next(*limit) < snapshot.session.info.head) {
    range.to = range.from.next(*limit);
    snapshot.answer.reset();
  }
  std::string out;
  REPRISE_TRY(write_show_document(store_, snapshot, range, [&out](std::string_view piece) {
    out += piece;
    return Flow::proceed;
  }));
  out.pop_back();  // the line end
  return out;
}

Result<std::string> LineRequests::list(const LineRequest& request) {
  SessionQuery query;
  REPRISE_ASSIGN(const bool all, request.flag("all"));
  REPRISE_ASSIGN(query.mode, request.find_text("mode"));
  REPRISE_ASSIGN(query.states, states_of(request));
  REPRISE_ASSIGN(query.limit, limit_of(request, kListedDefault));
  REPRISE_ASSIGN(const auto after, request.find_text("after"));
  query.after = after.value_or("");
  if (!all && store_.capabilities().many_folders) {
    query.working_dir = context_.config().project();
  }
  REPRISE_ASSIGN(SessionPage page, store_.list(query));
  mark_incomplete_answers(store_, page);
  std::string out;
  json::ObjectWriter object(out);
  object.raw("sessions", infos_document(page.sessions))
      .text_or_null("next", page.next)
      .raw("damage", damage_document(page.damage))
      .close();
  return out;
}

Result<std::string> LineRequests::fork(const LineRequest& request) {
  REPRISE_ASSIGN(const auto at, request.find_number("at", 0));
  REPRISE_ASSIGN(auto title, request.find_text("title"));
  REPRISE_ASSIGN(const auto operation, operation_of(request));
  REPRISE_ASSIGN(const SessionInfo info, selected(request, true));
  if (title) {
    title = std::string(trimmed(terminal_line(*title)));
  }
  const ForkRequest fork{.parent = info.id,
                         .at = at ? std::optional(Seq{*at}) : std::nullopt,
                         .title = std::move(title)};
  REPRISE_ASSIGN(const SessionId child,
                 operation ? fork_session_once(store_, fork, *operation, context_.clock())
                           : fork_session(store_, fork, context_.clock()));
  return session_result(child);
}

Result<std::string> LineRequests::rewind(const LineRequest& request) {
  REPRISE_ASSIGN(const auto turns, request.find_number("turns", 1));
  REPRISE_ASSIGN(const auto operation, operation_of(request));
  REPRISE_ASSIGN(const SessionInfo info, selected(request, true));
  REPRISE_TRY(prepare_to_append(store_, info.id, {.stop = stop_, .clock = context_.clock()}));
  if (operation) {
    REPRISE_TRY(rewind_session_once(store_, info.id, turns.value_or(1), *operation));
  } else {
    REPRISE_TRY(rewind_session(store_, info.id, turns.value_or(1)));
  }
  return session_result(info.id);
}

Result<SearchQuery> LineRequests::search_query(const LineRequest& request) {
  SearchQuery query;
  REPRISE_ASSIGN(const std::string words, request.text("words"));
  REPRISE_ASSIGN(query.terms, parse_search(words));
  REPRISE_ASSIGN(query.limit, limit_of(request, kFoundDefault));
  REPRISE_ASSIGN(const auto after, request.find_text("after"));
  query.after = after.value_or("");
  if (!request.raw("session").empty()) {
    REPRISE_ASSIGN(const SessionInfo info, selected(request, false));
    query.session = info.id;
  }
  return query;
}

Result<std::string> LineRequests::search(const LineRequest& request) {
  REPRISE_ASSIGN(const SearchQuery query, search_query(request));
  const auto warn = [this](std::string_view reason) {
    context_.console().warn(cat("newer messages are not searched: ", reason));
  };
  if (index_ == nullptr) {
    REPRISE_ASSIGN(index_, open_search_index(context_, [warn](const Damage& part) {
                     warn(cat(part.where, ": ", part.reason));
                   }));
  }
  REPRISE_ASSIGN(std::string url, search_url(context_));
  const SearchSource source{.url = std::move(url), .source = &store_};
  const auto updated = index_->update_index(source);
  context_.console().end_progress();
  if (!updated) {
    warn(updated.error().message);
  }
  REPRISE_ASSIGN(const SearchPage page, index_->search({&source, 1}, query));
  for (const Damage& part : page.damage) {
    warn(cat(part.where, ": ", part.reason));
  }
  const std::string own;
  return hits_document(page, {&own, 1});
}

Result<std::string> LineRequests::todo(const LineRequest& request) {
  REPRISE_ASSIGN(const auto added, request.find_text("add"));
  REPRISE_ASSIGN(const auto number, request.find_number("set", 1));
  REPRISE_ASSIGN(const auto status, request.find_text("status"));
  const auto parsed = parse_todo_status(status.value_or("pending"));
  if (!parsed || status.has_value() != number.has_value() || (added && number) ||
      (added && trimmed(*added).empty())) {
    return fail(Code::invalid_argument,
                "a todo request has nothing else, or 'add' with a text, or 'set' with a number and "
                "'status' with pending, in_progress or completed");
  }
  REPRISE_ASSIGN(const SessionInfo info, selected(request, added || number));
  REPRISE_ASSIGN(Todos* const list, offered(store_.capabilities().todos, "hold todos"));
  if (!added && !number) {
    REPRISE_ASSIGN(const std::vector<Todo> todos, list->todos(info.id));
    return todos_document(todos);
  }
  const TodoRequest change =
      added ? TodoRequest{.action = TodoRequest::Action::add, .text = *added}
            : TodoRequest{.action = TodoRequest::Action::set,
                          .index = static_cast<std::size_t>(number.value_or(1) - 1),
                          .status = *parsed};
  REPRISE_ASSIGN(const std::vector<Todo> todos,
                 list->edit_todos(info.id, [&change](std::vector<Todo>& edited) {
                   return change_todos(edited, change);
                 }));
  return todos_document(todos);
}

Result<Exit> run_line_requests(Context& context) {
  REPRISE_ASSIGN(Store* const store, context.stores().open(Access::write));
  const Interrupts interrupts;
  LineInput input(STDIN_FILENO, static_cast<std::size_t>(kGivenBytesMax), interrupts.token());
  LineRequests requests(context, *store, interrupts.token());
  Exit exit = Exit::success;
  for (;;) {
    REPRISE_ASSIGN(const std::optional<InputLine> line, input.next());
    if (!line) {
      return interrupts.signal() == SIGINT ? Exit::interrupted : exit;
    }
    if (!line->is_too_long && trimmed(line->text).empty()) {
      continue;
    }
    const Result<std::string> result =
        line->is_too_long
            ? Result<std::string>(fail(Code::invalid_argument, cat("the request is longer than ",
                                                                   kGivenBytesMax >> 20, " MiB")))
            : requests.answer(line->text);
    std::string document;
    json::ObjectWriter object(document);
    object.field("line", line->number);
    if (result) {
      object.raw("result", *result);
    } else {
      exit = Exit::failed;
      json::append_object(object.key("error"), "code", to_string(result.error().code), "message",
                          result.error().message);
    }
    object.close();
    context.console().print_json(document);
    if (!context.console().out().flush()) {
      return Exit::failed;
    }
  }
}

}  // namespace reprise::cli
