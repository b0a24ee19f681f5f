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

void SessionWorker::count_closed() {
  const auto count = resumable_.count_closed();
  if (!count) {
    return announce(Announcement::Kind::warning, count.error().message);
  }
  parts_.events.post(ClearRequest{.count = *count});
}

}  // namespace reprise::cli::app
