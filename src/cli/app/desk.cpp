#include "cli/app/desk.h"

#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "cli/app/effect.h"
#include "cli/app/event.h"
#include "cli/app/live_session.h"
#include "cli/chat_session.h"
#include "cli/context.h"
#include "cli/settings.h"
#include "cli/slash.h"
#include "reprise/conversation.h"
#include "reprise/error.h"
#include "reprise/open_store.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"

namespace reprise::cli::app {

Desk::Desk(Parts parts) : parts_(std::move(parts)), consents_(parts_.events) {
  parts_.context.divert_talk([this](Context::Saying what, std::string_view text) {
    say(what == Context::Saying::warning ? Said::Kind::warning : Said::Kind::notice, text);
  });
  worker_ = std::jthread([this](const std::stop_token& over) { work(over); });
}

Desk::~Desk() {
  parts_.events.close();
  hurry_.request_stop();
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [tab, live] : tabs_) {
      live->stop();
    }
  }
  worker_.request_stop();
  worker_.join();
  parts_.context.divert_talk({});
}

void Desk::perform(Effect effect) {
  if (const auto* const stop = std::get_if<StopTurn>(&effect)) {
    if (const Live live = find(stop->tab); live != nullptr) {
      live->stop();
    }
    return;
  }
  if (const auto* const consent = std::get_if<AnswerConsent>(&effect)) {
    consents_.answer(consent->number, consent->choice);
    return;
  }
  if (std::holds_alternative<Hurry>(effect)) {
    hurry_.request_stop();
    return;
  }
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(effect));
  wake_.notify_one();
}

Desk::Live Desk::find(TabId tab) {
  const std::lock_guard lock(mutex_);
  const auto found = tabs_.find(tab);
  return found == tabs_.end() ? nullptr : found->second;
}

bool Desk::keeps_running_answers() {
  const std::lock_guard lock(mutex_);
  for (const auto& [tab, live] : tabs_) {
    const Store* const store = live->session().store();
    if (store == nullptr || store->offers().partials == nullptr) {
      return false;
    }
  }
  return true;
}

void Desk::work(const std::stop_token& over) {
  for (;;) {
    std::unique_lock lock(mutex_);
    if (!wake_.wait(lock, over, [this] { return !jobs_.empty(); })) {
      return;
    }
    const Effect effect = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    perform_job(effect);
  }
}

void Desk::perform_job(const Effect& effect) {
  // What a job in an open session needs; one that was closed meanwhile needs nothing.
  const auto in_tab = [this](TabId tab, const auto& what) {
    tab_ = tab;
    const Live live = find(tab);
    if (live == nullptr) {
      return;
    }
    if (const Result<> done = what(*live); !done) {
      say(Said::Kind::warning, done.error().message);
    }
  };
  const auto opening = [this](TabId tab, const Result<>& opened) {
    if (!opened) {
      parts_.events.post(TabFailed{.tab = tab, .reason = opened.error().message});
    }
  };
  if (std::holds_alternative<FindNewest>(effect)) {
    find_newest();
  } else if (const auto* const fresh = std::get_if<OpenNew>(&effect)) {
    tab_ = fresh->tab;
    opening(fresh->tab, open_new(*fresh));
  } else if (const auto* const stored = std::get_if<OpenSession>(&effect)) {
    tab_ = stored->tab;
    opening(stored->tab, open_stored(*stored));
  } else if (const auto* const ask = std::get_if<Ask>(&effect)) {
    start_turn(
        ask->tab,
        [text = ask->text](Conversation& talk, TurnObserver& observer, std::stop_token stop) {
          return talk.ask(text, observer, std::move(stop));
        },
        ask->text);
  } else if (const auto* const again = std::get_if<AskAgain>(&effect)) {
    start_turn(again->tab, [](Conversation& talk, TurnObserver& observer, std::stop_token stop) {
      return talk.retry(observer, std::move(stop));
    });
  } else if (const auto* const go_on = std::get_if<GoOn>(&effect)) {
    start_turn(go_on->tab, [](Conversation& talk, TurnObserver& observer, std::stop_token stop) {
      return talk.go_on(observer, std::move(stop));
    });
  } else if (const auto* const slash = std::get_if<RunSlash>(&effect)) {
    in_tab(slash->tab, [&](LiveSession& live) { return run_slash(live, *slash); });
  } else if (const auto* const save_now = std::get_if<SaveNow>(&effect)) {
    in_tab(save_now->tab, [&](LiveSession& live) { return save(live); });
  } else if (const auto* const older = std::get_if<LoadOlder>(&effect)) {
    in_tab(older->tab, [&](LiveSession& live) { return load_older(live, *older); });
  } else if (const auto* const closed = std::get_if<CloseTab>(&effect)) {
    close(closed->tab, false);
    parts_.events.post(TabClosed{closed->tab});
  } else if (const auto* const all = std::get_if<CloseAll>(&effect)) {
    close_all(all->interrupted);
  }
}

void Desk::start_turn(TabId tab, LiveSession::Turn turn, std::string question) {
  if (const Live live = find(tab); live != nullptr) {
    live->run(std::move(turn), std::move(question));
  }
}

Result<> Desk::run_slash(LiveSession& live, const RunSlash& wanted) {
  const SlashVerb verb = wanted.slash.verb;
  const bool other_past = verb == SlashVerb::fork || verb == SlashVerb::rewind;
  if (other_past || verb == SlashVerb::model || verb == SlashVerb::system) {
    live.wait();  // its turn has reported its end, or is about to
  }
  REPRISE_ASSIGN(const std::string shown, live.session().run(wanted.slash, hurry_.get_token()));
  if (!shown.empty()) {
    say(Said::Kind::notice, shown);
  }
  TabChanged changed{.tab = wanted.tab, .facts = live.facts()};
  if (other_past && live.session().store() != nullptr) {
    REPRISE_ASSIGN(Past past, read_past(*live.session().store(), live.session().id(),
                                        Seq{changed.facts.messages}));
    changed.past_changed = true;
    changed.entries = std::move(past.entries);
    changed.oldest = past.oldest;
  }
  parts_.events.post(std::move(changed));
  return {};
}

Result<> Desk::save(LiveSession& live) {
  REPRISE_ASSIGN(const Settings* const settings, parts_.context.settings());
  Store* const store = live.session().store();
  if (store == nullptr) {
    return fail(Code::io, "Failed to save: the store could not be opened");
  }
  // All that was said is stored already; this looks whether it can be found again.
  if (const auto found = get(*store, live.session().id()); !found) {
    return fail(found.error().code, cat("Failed to save: ", found.error().message));
  }
  say(Said::Kind::notice, cat("Session saved to: ", parts_.context.store_url(*settings)));
  return {};
}

Result<> Desk::load_older(LiveSession& live, const LoadOlder& wanted) {
  OlderLoaded loaded{.tab = wanted.tab, .entries = {}, .oldest = wanted.before};
  if (Store* const store = live.session().store(); store != nullptr) {
    auto past = read_past(*store, live.session().id(), wanted.before);
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

void Desk::close(TabId tab, bool interrupted) {
  const Live live = find(tab);
  if (live == nullptr) {
    return;
  }
  tab_ = tab;
  live->stop();
  live->wait();
  saved_ = saved_ && live->all_saved();
  ChatSession& session = live->session();
  Store* const store = session.store();
  if (store == nullptr) {
    saved_ = saved_ && session.now().info.head.value == 0;
  } else if (session.is_kept() && !session.discard_if_empty()) {
    const auto named = session.set_closing_title(live->said(), interrupted, hurry_.get_token());
    Result<> closed;
    if (!interrupted) {
      closed =
          store->update(session.id(), {.state = SessionState::closed,
                                       .closed_at = std::optional(parts_.context.clock().now())});
    }
    for (const Result<>& done : {named, closed}) {
      // A store without titles or states has nothing to lose.
      if (!done && done.error().code != Code::unsupported) {
        saved_ = false;
        say(Said::Kind::warning, cat("Failed to save: ", done.error().message));
      }
    }
  }
  const std::lock_guard lock(mutex_);
  tabs_.erase(tab);
}

void Desk::close_all(bool interrupted) {
  std::vector<TabId> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [tab, live] : tabs_) {
      all.push_back(tab);
      live->stop();
    }
  }
  for (const TabId tab : all) {
    close(tab, interrupted);
    parts_.events.post(TabClosed{tab});
  }
  parts_.events.post(AllClosed{.saved = saved_});
}

void Desk::say(Said::Kind kind, std::string_view text) {
  parts_.events.post(Said{kind, tab_, std::string(text)});
}

}  // namespace reprise::cli::app
