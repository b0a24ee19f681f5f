// The worker's part of open sessions: turns, commands, the models for /model, and closing them.

#include <algorithm>
#include <array>
#include <mutex>
#include <thread>

#include "base/http.h"
#include "base/text.h"
#include "choice/settings.h"
#include "cli/app/session_worker.h"
#include "cli/output/table.h"
#include "cli/repl/chat_session.h"
#include "cli/settings/program_config.h"
#include "model/attachment.h"
#include "provider/model_list.h"
#include "session/session_config.h"

namespace reprise::cli::app {
namespace {

constexpr std::chrono::milliseconds kServerTimeout{500};

// The port of a server on this machine, which needs no key; nullopt for any other.
std::optional<std::uint16_t> local_port(std::string_view url) {
  if (!http::is_local_url(url)) {
    return std::nullopt;
  }
  const std::string server = http::server_of(url);
  const std::string_view digits = std::string_view(server).substr(server.rfind(':') + 1);
  const auto port = parse_number<std::uint16_t>(digits);
  return port && *port > 0 ? port : std::nullopt;
}

// Most recently used first.
std::vector<std::string> models_of_sessions(Store& store, std::string_view provider) {
  std::vector<std::string> out;
  const auto page = store.list({.ungrouped = true, .limit = kPageMax});
  if (!page) {
    return out;  // errors are ignored: completion is a convenience
  }
  for (const SessionInfo& info : page->sessions) {
    if (info.provider == provider && !info.model.empty() &&
        std::ranges::find(out, info.model) == out.end()) {
      out.push_back(info.model);
    }
  }
  return out;
}

}  // namespace

void SessionWorker::start_turn(TabId tab, LiveSession::Turn turn, std::string question) {
  if (const Live live = find(tab); live != nullptr && !live->is_closing()) {
    live->run(std::move(turn), std::move(question));
  }
}

Result<> SessionWorker::rewind_last_turn(TabId tab) {
  const Live live = find(tab);
  if (live == nullptr || live->is_closing()) {
    return fail(Code::not_found, "the session is closed");
  }
  live->wait();  // its turn has posted its end or is about to
  REPRISE_TRY(live->session().run({SlashVerb::rewind, "", 1}, cancel_.get_token()));
  return {};
}

void SessionWorker::refuse_turn(const Ask& ask, const Error& error) {
  const Live live = find(ask.tab);
  if (live == nullptr) {
    return;
  }
  parts_.events.post(TurnEnded{.tab = ask.tab, .metadata = live->metadata()});
  if (const Result<> posted = post_history(ask.tab, *live); !posted) {
    announce(Announcement::Kind::warning, posted.error().message);
  }
  announce(Announcement::Kind::warning, cat("the message is not sent: ", error.message));
  parts_.events.post(NotSent{.tab = ask.tab, .text = ask.text, .files = ask.attached.files});
}

Result<> SessionWorker::run_slash(LiveSession& live, const RunSlash& request) {
  const SlashVerb verb = request.slash.verb;
  const bool replaces_history = verb == SlashVerb::fork || verb == SlashVerb::rewind;
  const bool may_store = verb == SlashVerb::title || verb == SlashVerb::todo;
  if (replaces_history || verb == SlashVerb::model || verb == SlashVerb::provider ||
      verb == SlashVerb::system || (may_store && !live.session().is_saved())) {
    live.wait();  // its turn has posted its end or is about to
  }
  const SessionId before = live.session().id();
  REPRISE_ASSIGN(const std::string output, live.session().run(request.slash, cancel_.get_token()));
  if (!output.empty()) {
    announce(Announcement::Kind::notice, output);
  }
  if (Store* const store = live.session().store(); store != nullptr &&
                                                   live.session().id() != before &&
                                                   store->capabilities().one_open_per_folder) {
    const auto closed = store->update(
        before,
        {.state = SessionState::closed, .closed_at = std::optional(parts_.context.clock().now())});
    announce(closed ? Announcement::Kind::notice : Announcement::Kind::warning,
             closed ? std::string("closed the original: this store allows one open session per "
                                  "folder")
                    : cat("cannot close the original: ", closed.error().message));
  }
  if (replaces_history) {
    return post_history(request.tab, live);
  }
  parts_.events.post(TabChanged{.tab = request.tab, .metadata = live.metadata()});
  return {};
}

Result<> SessionWorker::list_questions(LiveSession& live, const ListQuestions& request) {
  constexpr std::size_t kQuestionShown = 200;
  QuestionsListed listed{.tab = request.tab, .verb = request.verb, .questions = {}};
  if (Store* const store = live.session().store(); store != nullptr && live.session().is_saved()) {
    if (!live.is_running()) {  // an unsaved question has no number yet
      REPRISE_TRY(live.session().conversation().store_unsaved());
    }
    const auto sink = [&listed](const Message& message) {
      if (is_question(message)) {
        listed.questions.emplace_back(message.seq, excerpt(question_text(message), kQuestionShown));
      }
      return Flow::proceed;
    };
    REPRISE_TRY(store->read(live.session().id(), {}, sink));
  }
  parts_.events.post(std::move(listed));
  return {};
}

Result<> SessionWorker::save(LiveSession& live) {
  REPRISE_ASSIGN(const std::string text, live.session().saved_to());
  announce(Announcement::Kind::notice, text);
  return {};
}

Result<> SessionWorker::load_older(LiveSession& live, const LoadOlder& request) {
  OlderLoaded loaded{.tab = request.tab, .entries = {}, .oldest = request.before};
  if (live.session().store() != nullptr) {
    auto part = read_history(live.session(), request.before, request.count);
    if (!part) {
      announce(Announcement::Kind::warning, part.error().message);
    } else {
      loaded.entries = std::move(part->entries);
      loaded.oldest = part->oldest;
    }
  }
  parts_.events.post(std::move(loaded));
  return {};
}

// On a separate thread, as a model may generate the title.
void SessionWorker::begin_close(TabId tab, bool interrupted) {
  const Live live = find(tab);
  if (live == nullptr) {
    return parts_.events.post(TabClosed{tab});  // it could not be opened
  }
  if (live->begin_close()) {
    return;
  }
  background_.emplace_back([this, tab, live, interrupted] {
    set_job_tab(tab);
    close(tab, *live, interrupted);
    const std::lock_guard lock(mutex_);
    job_tabs_.erase(std::this_thread::get_id());
  });
}

void SessionWorker::close_stored(LiveSession& live, bool interrupted) {
  ChatSession& session = live.session();
  Store& store = *session.store();
  const auto now = get_snapshot(store, session.id());
  if (const std::string_view place = now ? removed_to(now->session.info.state) : "";
      !place.empty()) {
    return announce(Announcement::Kind::warning,
                    cat("cannot close ", session.name(), ": it is ", place, "; `",
                        session.context().config().program(), " restore ", session.brief_id(),
                        "` brings it back"));
  }
  const auto named =
      session.set_closing_title(live.first_exchange(), interrupted, cancel_.get_token());
  const Result<> closed = interrupted ? Result<>() : session.close_stored();
  for (const Result<>& result : {named, closed}) {
    // Stores without titles or states lose nothing.
    if (!result && result.error().code != Code::unsupported) {
      saved_ = false;
      announce(Announcement::Kind::warning, cat("Failed to save: ", result.error().message));
    }
  }
}

void SessionWorker::close(TabId tab, LiveSession& live, bool interrupted) {
  live.stop();
  live.wait();
  if (!live.all_saved()) {
    saved_ = false;
  }
  ChatSession& session = live.session();
  Store* const store = session.store();
  if (store == nullptr) {
    if (live.has_turns()) {
      saved_ = false;
    }
  } else if (session.is_saved() && !session.discard_if_empty()) {
    close_stored(live, interrupted);
  }
  {
    const std::lock_guard lock(mutex_);
    tabs_.erase(tab);
  }
  parts_.events.post(TabClosed{tab});
}

void SessionWorker::close_all(bool interrupted) {
  std::vector<TabId> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [tab, live] : tabs_) {
      all.push_back(tab);
      live->stop();
    }
  }
  for (const TabId tab : all) {
    begin_close(tab, interrupted);
  }
  background_.clear();  // joins the threads
  parts_.events.post(AllClosed{.saved = saved_});
}

void SessionWorker::list_models(TabId tab) {
  const Live live = find(tab);
  if (live == nullptr || live->is_closing()) {
    return;
  }
  ChatSession& session = live->session();
  if (Store* const store = session.store(); store != nullptr) {
    parts_.events.post(ModelsListed{tab, models_of_sessions(*store, session.provider_name())});
  }
  const std::string url = stored_base_url(session.current_session());
  const bool is_in_use = ascii_lower(http::host_of(url)) == session.provider().host();
  if (const auto port = local_port(url); port && is_in_use) {
    // The server may be slow; other sessions do not wait for it.
    background_.emplace_back([this, tab, port = *port] {
      const std::array<provider::KnownPort, 1> ports{{{"", port}}};
      for (LocalServer& server : provider::probe_local_ports(ports, kServerTimeout)) {
        parts_.events.post(ModelsListed{tab, std::move(server.models)});
      }
    });
  }
}

}  // namespace reprise::cli::app
