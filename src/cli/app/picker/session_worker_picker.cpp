// The worker's part of the picker and /resume: stored sessions that are not open.

#include <algorithm>
#include <functional>
#include <iterator>

#include "cli/app/session_worker.h"
#include "cli/output/session_json.h"
#include "cli/program/store_opener.h"
#include "cli/session/removal.h"
#include "cli/settings/time_value.h"

namespace reprise::cli::app {
namespace {

// Limits reading first questions of sessions without a title, which is slow.
constexpr int kQuestionsAPage = 20;
constexpr std::chrono::milliseconds kQuestionsTime{500};
constexpr std::ptrdiff_t kResumableShown = 20;
constexpr std::size_t kPrefixMin = 4;  // of an id

Time left_at(const SessionInfo& info) {
  return info.closed_at.value_or(info.updated_at);
}

bool is_answering_now(const SessionInfo& info) {
  return info.answering && state_of(*info.answering) == OwnerState::alive;
}

}  // namespace

void SessionWorker::load_page(const LoadPage& request) {
  if (request.other_tools) {
    return load_others(request.generation);
  }
  PageLoaded page{.generation = request.generation, .rows = {}, .next = {}};
  SessionQuery query{.after = request.after, .limit = request.limit};
  const auto store = parts_.context.stores().open(Access::read);
  if (!store) {
    // Listing creates nothing: without a store, there are no sessions.
    page.failure = store.error().code == Code::not_found ? "" : store.error().message;
    return parts_.events.post(std::move(page));
  }
  if (request.trash) {
    query.states = {SessionState::trashed};
  }
  if (!request.all_folders && (*store)->capabilities().folders) {
    query.working_dir = request.folder.empty() ? parts_.context.config().project() : request.folder;
  }
  auto listed = (*store)->list(query);
  if (!listed) {
    page.failure = listed.error().message;
    return parts_.events.post(std::move(page));
  }
  mark_incomplete_answers(**store, *listed);
  int questions = 0;
  for (const SessionInfo& info : listed->sessions) {
    std::string question;
    if (info.title.empty() && info.head.value > 0 && questions < kQuestionsAPage) {
      ++questions;
      question = first_exchange(**store, info.id).value_or(Exchange{}).question;
    }
    page.rows.push_back(picker_row(info, question));
  }
  page.next = std::move(listed->next);
  if (!listed->damage.empty()) {
    const Damage& part = listed->damage.front();
    page.failure = cat("cannot read ", part.where, ": ", part.reason);
  }
  parts_.events.post(std::move(page));
}

// Stops after a time limit; the remaining sessions are found by title and folder only.
void SessionWorker::load_questions(const LoadQuestions& request) {
  QuestionsLoaded loaded{.generation = request.generation};
  const auto store = parts_.context.stores().open(Access::read);
  const auto deadline = std::chrono::steady_clock::now() + kQuestionsTime;
  for (const std::string& text : request.ids) {
    const auto id = SessionId::parse(text);
    if (!id || !store || std::chrono::steady_clock::now() > deadline) {
      break;
    }
    loaded.questions.push_back(first_exchange(**store, *id).value_or(Exchange{}).question);
  }
  parts_.events.post(std::move(loaded));
}

void SessionWorker::load_preview(const LoadPreview& request) {
  PreviewLoaded loaded{.id = request.id, .preview = {}};
  auto other = find_other(request.id);
  const auto own = parts_.context.stores().open(Access::read);
  const auto id = other ? Result<SessionId>(other->second) : SessionId::parse(request.id);
  Source* const source = other ? other->first : own.value_or(nullptr);
  if (id && source != nullptr) {
    if (const auto last = last_exchange(*source, *id)) {
      loaded.preview = {last->question, last->answer, last->incomplete, last->running};
    } else {
      loaded.preview.answer = last.error().message;
    }
  }
  parts_.events.post(std::move(loaded));
}

Result<> SessionWorker::trash_stored(const std::string& text) {
  REPRISE_ASSIGN(const SessionId id, SessionId::parse(text));
  REPRISE_ASSIGN(Store* const store, parts_.context.stores().open_existing());
  REPRISE_TRY(offered(store->capabilities().trash, "move sessions to a trash"));
  REPRISE_ASSIGN(const Session session, get(*store, id));
  return move_to_trash(parts_.context, *store, {&session.info, 1});
}

Result<> SessionWorker::restore_stored(const std::string& text) {
  REPRISE_ASSIGN(const SessionId id, SessionId::parse(text));
  REPRISE_ASSIGN(Store* const store, parts_.context.stores().open_existing());
  REPRISE_ASSIGN(Trash* const trash, offered(store->capabilities().trash, "bring sessions back"));
  return trash->restore(id);
}

void SessionWorker::empty_trash(const EmptyTrash& request) {
  const auto result = remove_trashed(request);
  parts_.events.post(StoredChanged{.change = StoredChanged::Change::emptied,
                                   .id = {},
                                   .title = result.value_or(""),
                                   .failure = result ? "" : result.error().message});
}

Result<std::string> SessionWorker::remove_trashed(const EmptyTrash& request) {
  REPRISE_ASSIGN(Store* const store, parts_.context.stores().open_existing());
  SessionQuery query{.states = {SessionState::trashed}};
  if (!request.all_folders && store->capabilities().folders) {
    query.working_dir = request.folder.empty() ? parts_.context.config().project() : request.folder;
  }
  REPRISE_ASSIGN(const FoundSessions found, find_all_sessions(*store, query));
  REPRISE_ASSIGN(
      const RemovedSessions result,
      remove_sessions(*store, found.sessions, Removal::purge, {}, parts_.context.clock()));
  warn_of_damage(parts_.context, found.damage);
  warn_of_remnants(parts_.context, result);
  if (!result.failed.empty()) {
    return std::unexpected(result.failed.front().second);
  }
  return cat("removed ", counted(std::ssize(result.removed), "session"), " for good");
}

Result<> SessionWorker::rename_stored(const std::string& text, const std::string& title) {
  REPRISE_ASSIGN(const SessionId id, SessionId::parse(text));
  REPRISE_ASSIGN(Store* const store, parts_.context.stores().open_existing());
  return store->update(id, {.title = title});
}

// Sessions that are neither open here nor being answered in another process, newest first.
Result<std::vector<SessionInfo>> SessionWorker::resumable() {
  const auto store = parts_.context.stores().open(Access::read);
  if (!store && store.error().code == Code::not_found) {
    return std::vector<SessionInfo>{};
  }
  if (!store) {
    return std::unexpected(store.error());
  }
  REPRISE_ASSIGN(SessionPage page, (*store)->list({.limit = kPageMax}));
  std::erase_if(page.sessions, [this](const SessionInfo& info) {
    return is_answering_now(info) || find_open(info.id).live != nullptr;
  });
  std::ranges::stable_sort(page.sessions, std::ranges::greater{}, left_at);
  return std::move(page.sessions);
}

Result<std::string> SessionWorker::list_resumable() {
  REPRISE_ASSIGN(const std::vector<SessionInfo> sessions, resumable());
  numbers_ = LastList{.ids = {}, .shown_at = parts_.context.clock().now()};
  if (sessions.empty()) {
    return "No sessions to resume.";
  }
  const auto store = parts_.context.stores().open(Access::read);
  if (!store) {
    return std::unexpected(store.error());
  }
  SessionPage page{.sessions = {sessions.begin(),
                                sessions.begin() + std::min(std::ssize(sessions), kResumableShown)},
                   .next = {},
                   .damage = {}};
  mark_incomplete_answers(**store, page);
  std::string out = "Resumable sessions:\n";
  for (std::size_t i = 0; i < page.sessions.size(); ++i) {
    const SessionInfo& info = page.sessions[i];
    const std::string_view state = state_text(info);
    out += cat("  ", i + 1, ". ", name_of(**store, info), " (", info.working_dir, ") - ", state,
               " ", age_text(left_at(info), parts_.context.clock().now()), "\n");
    numbers_->ids.push_back(info.id);
  }
  if (sessions.size() > page.sessions.size()) {
    out += cat("  … and ", sessions.size() - page.sessions.size(), " more; Ctrl-O finds them\n");
  }
  return cat(out, "\nUse /resume <number> to restore.");
}

Error SessionWorker::no_such_session(const std::string& sel) {
  const bool is_number = sel.size() < kPrefixMin && std::ranges::all_of(sel, is_ascii_digit);
  return {Code::not_found, cat("no session matches '", sel, "'",
                               is_number ? "; /resume list shows the numbers" : "")};
}

// Resolves a number: in "/resume list" if it was shown here, otherwise select() uses the list last
// shown in this folder and terminal. Anything else is unchanged.
Result<std::string> SessionWorker::numbered(const std::string& sel) {
  const auto number = parse_number<std::size_t>(sel).value_or(0);
  if (!numbers_ || number == 0) {
    return sel;
  }
  // Numbers refer to the list as shown, even if sessions were resumed or deleted since.
  if (number > numbers_->ids.size()) {
    // May be a prefix of an id.
    return sel.size() < kPrefixMin ? std::unexpected(no_such_session(sel))
                                   : Result<std::string>(sel);
  }
  if (is_old(*numbers_, parts_.context.clock().now())) {
    return fail(Code::invalid_argument,
                cat("number ", number, " is from a list shown ",
                    age_text(numbers_->shown_at, parts_.context.clock().now()),
                    "; see /resume list, or name the session by its id"));
  }
  return numbers_->ids[number - 1].str();
}

Result<std::string> SessionWorker::delete_stored(const std::string& sel) {
  REPRISE_ASSIGN(const std::string request, numbered(sel));
  REPRISE_ASSIGN(Store* const store, parts_.context.stores().open_existing());
  const auto found = parts_.context.stores().select(*store, request, Use::change);
  if (!found && found.error().code == Code::not_found) {
    return std::unexpected(no_such_session(sel));
  }
  if (!found) {
    return std::unexpected(found.error());
  }
  if (find_open(found->id).live != nullptr) {
    return fail(Code::conflict, "That session is open; close it first.");
  }
  REPRISE_TRY(trash_stored(found->id.str()));
  return cat("Deleted saved session: ", session_name(*store, *found));
}

void SessionWorker::count_closed() {
  const auto store = parts_.context.stores().open(Access::read);
  if (!store && store.error().code != Code::not_found) {
    return announce(Announcement::Kind::warning, store.error().message);
  }
  ClearRequest requested;
  if (store) {
    const auto closed = find_all_sessions(**store, {.states = {SessionState::closed}});
    if (!closed) {
      return announce(Announcement::Kind::warning, closed.error().message);
    }
    requested.count = closed->sessions.size();
  }
  parts_.events.post(requested);
}

Result<std::string> SessionWorker::clear_closed() {
  REPRISE_ASSIGN(Store* const store, parts_.context.stores().open_existing());
  REPRISE_TRY(offered(store->capabilities().trash, "move sessions to a trash"));
  REPRISE_ASSIGN(const FoundSessions closed,
                 find_all_sessions(*store, {.states = {SessionState::closed}}));
  for (const Damage& part : closed.damage) {
    announce(Announcement::Kind::warning, cat("cannot read ", part.where, ": ", part.reason));
  }
  REPRISE_TRY(move_to_trash(parts_.context, *store, closed.sessions));
  return cat("Cleared ", closed.sessions.size(), " saved session(s).");
}

}  // namespace reprise::cli::app
