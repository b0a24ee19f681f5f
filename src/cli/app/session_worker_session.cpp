// What the worker does in an open session.

#include "base/text.h"
#include "cli/app/effect.h"
#include "cli/app/event.h"
#include "cli/app/live_session.h"
#include "cli/app/session_worker.h"
#include "cli/program/context.h"
#include "cli/repl/chat_session.h"
#include "cli/repl/slash.h"
#include "cli/settings/settings.h"
#include "reprise/store.h"

namespace reprise::cli::app {

void SessionWorker::start_turn(TabId tab, LiveSession::Turn turn, std::string question) {
  if (const Live live = find(tab); live != nullptr && !live->is_closing()) {
    live->run(std::move(turn), std::move(question));
  }
}

Result<> SessionWorker::run_slash(LiveSession& live, const RunSlash& request) {
  const SlashVerb verb = request.slash.verb;
  const bool other_history = verb == SlashVerb::fork || verb == SlashVerb::rewind;
  if (other_history || verb == SlashVerb::model || verb == SlashVerb::system) {
    live.wait();  // its turn has reported its end, or is about to
  }
  const SessionId before = live.session().id();
  REPRISE_ASSIGN(const std::string shown, live.session().run(request.slash, hurry_.get_token()));
  if (!shown.empty()) {
    say(Announcement::Kind::notice, shown);
  }
  if (Store* const store = live.session().store();
      store != nullptr && live.session().id() != before) {
    // The one that was forked is not open any more.
    const auto closed = store->update(
        before,
        {.state = SessionState::closed, .closed_at = std::optional(parts_.context.clock().now())});
    if (!closed && closed.error().code != Code::unsupported) {
      say(Announcement::Kind::warning, cat("Failed to save: ", closed.error().message));
    }
  }
  TabChanged changed{.tab = request.tab, .metadata = live.metadata()};
  if (other_history && live.session().store() != nullptr) {
    REPRISE_ASSIGN(HistoryPart part, read_history(*live.session().store(), live.session().id(),
                                                  Seq{changed.metadata.messages}));
    changed.history_changed = true;
    changed.entries = std::move(part.entries);
    changed.oldest = part.oldest;
    changed.last_input = part.last_input;
  }
  parts_.events.post(std::move(changed));
  return {};
}

Result<> SessionWorker::save(LiveSession& live) {
  Context& context = live.session().context();
  REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
  Store* const store = live.session().store();
  if (store == nullptr) {
    return fail(Code::io, "Failed to save: the store could not be opened");
  }
  // All that was said is stored already; this looks whether it can be found again.
  if (const auto found = get(*store, live.session().id()); !found) {
    return fail(found.error().code, cat("Failed to save: ", found.error().message));
  }
  constexpr std::string_view kSessions = "sessions:";
  const std::string url = context.config().store_url(*settings);
  std::string place = url.substr(url.find(':') + 1);
  if (url.starts_with(kSessions)) {
    place += cat("/active/", live.session().id().str(), ".json");
  }
  say(Announcement::Kind::notice, cat("Session saved to: ", place));
  return {};
}

Result<> SessionWorker::load_older(LiveSession& live, const LoadOlder& request) {
  OlderLoaded loaded{.tab = request.tab, .entries = {}, .oldest = request.before};
  if (Store* const store = live.session().store(); store != nullptr) {
    auto part = read_history(*store, live.session().id(), request.before, request.count);
    if (!part) {
      say(Announcement::Kind::warning, part.error().message);
    } else {
      loaded.entries = std::move(part->entries);
      loaded.oldest = part->oldest;
    }
  }
  parts_.events.post(std::move(loaded));
  return {};
}

}  // namespace reprise::cli::app
