// What the desk does in an open session.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cli/app/desk.h"
#include "cli/app/effect.h"
#include "cli/app/event.h"
#include "cli/app/live_session.h"
#include "cli/program/context.h"
#include "cli/repl/chat_session.h"
#include "cli/repl/slash.h"
#include "cli/settings/settings.h"
#include "reprise/error.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/types.h"

namespace reprise::cli::app {

void Desk::start_turn(TabId tab, LiveSession::Turn turn, std::string question) {
  if (const Live live = find(tab); live != nullptr && !live->is_closing()) {
    live->run(std::move(turn), std::move(question));
  }
}

Result<> Desk::run_slash(LiveSession& live, const RunSlash& wanted) {
  const SlashVerb verb = wanted.slash.verb;
  const bool other_past = verb == SlashVerb::fork || verb == SlashVerb::rewind;
  if (other_past || verb == SlashVerb::model || verb == SlashVerb::system) {
    live.wait();  // its turn has reported its end, or is about to
  }
  const SessionId before = live.session().id();
  REPRISE_ASSIGN(const std::string shown, live.session().run(wanted.slash, hurry_.get_token()));
  if (!shown.empty()) {
    say(Said::Kind::notice, shown);
  }
  if (Store* const store = live.session().store();
      store != nullptr && live.session().id() != before) {
    // The one that was forked is not open any more.
    const auto closed = store->update(
        before,
        {.state = SessionState::closed, .closed_at = std::optional(parts_.context.clock().now())});
    if (!closed && closed.error().code != Code::unsupported) {
      say(Said::Kind::warning, cat("Failed to save: ", closed.error().message));
    }
  }
  TabChanged changed{.tab = wanted.tab, .facts = live.facts()};
  if (other_past && live.session().store() != nullptr) {
    REPRISE_ASSIGN(Past past, read_past(*live.session().store(), live.session().id(),
                                        Seq{changed.facts.messages}));
    changed.past_changed = true;
    changed.entries = std::move(past.entries);
    changed.oldest = past.oldest;
    changed.last_input = past.last_input;
  }
  parts_.events.post(std::move(changed));
  return {};
}

Result<> Desk::save(LiveSession& live) {
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
  say(Said::Kind::notice, cat("Session saved to: ", place));
  return {};
}

Result<> Desk::load_older(LiveSession& live, const LoadOlder& wanted) {
  OlderLoaded loaded{.tab = wanted.tab, .entries = {}, .oldest = wanted.before};
  if (Store* const store = live.session().store(); store != nullptr) {
    auto past = read_past(*store, live.session().id(), wanted.before, wanted.count);
    if (!past) {
      say(Said::Kind::warning, past.error().message);
    } else {
      loaded.entries = std::move(past->entries);
      loaded.oldest = past->oldest;
    }
  }
  parts_.events.post(std::move(loaded));
  return {};
}

}  // namespace reprise::cli::app
