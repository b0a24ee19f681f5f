// The worker's part of opening sessions, new and stored ones.

#include <algorithm>
#include <mutex>
#include <system_error>

#include "base/file.h"
#include "base/place.h"
#include "base/utf8.h"
#include "choice/settings.h"
#include "cli/app/session_worker.h"
#include "cli/app/update.h"
#include "cli/output/session_json.h"
#include "cli/program/store_opener.h"
#include "cli/repl/chat_session.h"
#include "cli/session/find_session.h"
#include "cli/settings/program_config.h"
#include "cli/settings/run_flags.h"
#include "session/outbox.h"

namespace reprise::cli::app {
namespace {

namespace fs = std::filesystem;

// The models named in the settings.
std::vector<std::string> named_models(const Settings& settings) {
  std::vector<std::string> out;
  const auto add = [&out](const std::optional<std::string>& model) {
    if (model && !model->empty() && std::ranges::find(out, *model) == out.end()) {
      out.push_back(*model);
    }
  };
  const auto add_both = [&add](const ProviderSettings& provider) {
    add(provider.model);
    add(provider.dev_model);
  };
  add_both(settings.any());
  for (const auto& [name, provider] : settings.providers) {
    add_both(provider);
  }
  for (const auto& [name, mode] : settings.modes) {
    add(mode.model);
  }
  return out;
}

}  // namespace

void SessionWorker::find_newest() {
  NewestFound found;
  const auto store = parts_.context.stores().open(Access::read);
  // A store with a usual session continues it without asking.
  const auto current = find_default_session(parts_.context, Access::read);
  if (store && (*store)->capabilities().folders && current && !*current) {
    auto page = (*store)->list({.working_dir = parts_.context.config().project(), .limit = 1});
    // If the store cannot be listed, opening the session reports that.
    if (page && !page->sessions.empty()) {
      found.session = std::move(page->sessions.front());
      SessionInfo& info = *found.session;
      info.title = shown_name(**store, info);
    }
  }
  parts_.events.post(std::move(found));
}

SessionWorker::OpenTab SessionWorker::find_open(const SessionId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(
      tabs_, [&id](const auto& tab) { return tab.second->session().id() == id; });
  return found == tabs_.end() ? OpenTab{} : OpenTab{found->first, found->second};
}

// In a store with one open session per folder, opening another one closes it.
Result<> SessionWorker::close_other_session(const std::string& working_dir) {
  std::unique_lock lock(mutex_);
  const auto found = std::ranges::find_if(tabs_, [&working_dir](const auto& tab) {
    Store* const store = tab.second->session().store();
    return tab.second->folder() == working_dir && store != nullptr &&
           store->capabilities().one_open_per_folder;
  });
  if (found == tabs_.end()) {
    return {};
  }
  const auto [tab, live] = *found;
  lock.unlock();
  if (live->is_running()) {
    return fail(Code::busy,
                "this store allows one open session per folder, and that one is "
                "answering; stop it first");
  }
  if (live->begin_close()) {
    return {};  // it is already being closed
  }
  ChatSession& session = live->session();
  const std::string name =
      session.is_saved() ? shown_name(*session.store(), session.current_session().info) : "";
  close(tab, *live, false);
  if (!name.empty()) {
    announce(Announcement::Kind::notice,
             cat("saved and closed '", name, "': this store allows one open session per folder"));
  }
  return {};
}

Resumable::Here SessionWorker::here() {
  const std::lock_guard lock(mutex_);
  Resumable::Here out{.ids = {}, .stay_open = true};
  for (const auto& [tab, live] : tabs_) {
    out.ids.push_back(live->session().id());
  }
  return out;
}

Result<> SessionWorker::open_new(const OpenNew& request) {
  RunFlags flags = parts_.flags;
  fs::path folder = parts_.mode_path;
  const bool is_first = std::exchange(first_, false);
  if (!is_first || !request.folder.empty()) {
    // The mode and its folder apply to the first session only.
    flags.mode.reset();
    folder.clear();
  }
  if (!request.folder.empty()) {
    REPRISE_ASSIGN(folder, parts_.context.config().folder_named(request.folder));
  }
  const fs::path current = folder.empty() ? parts_.context.config().working_dir() : folder;
  return open({.tab = request.tab,
               .flags = std::move(flags),
               .choice = {.sel = std::nullopt,
                          .new_session = !is_first || parts_.begin,
                          .archive = is_first && parts_.begin,
                          .mode_path = folder},
               // With a mode, the settings are those of the start folder, not of the mode's folder.
               .folder = request.folder.empty() ? parts_.context.config().working_dir() : folder,
               .title = request.title,
               .working_dir = utf8::sanitize(current.native())});
}

Result<> SessionWorker::open_stored(const OpenSession& request) {
  std::string sel = request.sel;
  if (request.of_list) {
    REPRISE_ASSIGN(sel, resumable_.numbered(request.sel));
  }
  REPRISE_ASSIGN(sel, adopt_session(parts_.context, sel));
  REPRISE_ASSIGN(const SessionInfo info, resumable_.find(sel, request.sel));
  first_ = false;
  std::error_code error;
  const bool has_folder = info.mode.empty() && fs::is_directory(info.working_dir, error);
  if (const OpenTab open = find_open(info.id); open.live != nullptr) {
    if (open.live->is_closing()) {
      return fail(Code::busy, "that session is closing; try again in a moment");
    }
    parts_.events.post(TabIsOpen{.tab = request.tab, .open = open.tab});
    return {};
  }
  if (request.of_list) {
    REPRISE_TRY(resumable_.check_not_open(info, here()));
  }
  REPRISE_TRY(open({.tab = request.tab,
                    .flags = parts_.flags,
                    .choice = {.newest = false, .sel = info.id.str(), .mode_path = {}},
                    .folder = has_folder ? fs::path(info.working_dir) : fs::path(),
                    .same_store = true,
                    .title = "",
                    .working_dir = info.working_dir}));
  ChatSession& session = find(request.tab)->session();
  if (!session.refusal().empty()) {
    return {};  // which the tab says
  }
  Store* const store = session.store();
  announce(Announcement::Kind::notice,
           cat("Resumed session: ", store == nullptr ? info.title : shown_name(*store, info)));
  return {};
}

Result<> SessionWorker::open(Opening opening) {
  const TabId tab = opening.tab;
  REPRISE_TRY(close_other_session(opening.working_dir));
  std::unique_ptr<Context> own = context_in(parts_.context, opening.folder, opening.same_store);
  Context& context = own == nullptr ? parts_.context : *own;
  auto live = std::make_shared<LiveSession>(LiveSession::Parts{
      .tab = tab, .events = parts_.events, .consents = consents_, .context = parts_.context});
  const Approver approver = live->approver();
  REPRISE_ASSIGN(std::unique_ptr<StartedSession> started,
                 start_session(context, {.flags = opening.flags,
                                         .session = std::move(opening.choice),
                                         .title = std::move(opening.title),
                                         .keeps_refused = true,
                                         .approver = approver,
                                         .stop = cancel_.get_token()}));
  REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
  const std::string url = context.config().store_url(*settings);
  TabMetadata constant{.folder = started->conversation->session().info.working_dir,
                       .store = url.substr(0, url.find(':')),
                       .budget = opening.flags.budget ? opening.flags.budget : settings->budget,
                       .models = named_models(*settings)};
  auto session =
      std::make_unique<ChatSession>(context, opening.flags, approver, std::move(started));
  live->begin(std::move(own), std::move(session), std::move(constant));
  return begin_tab(tab, std::move(live));
}

Result<> SessionWorker::begin_tab(TabId tab, Live live) {
  TabOpened opened{
      .tab = tab, .metadata = live->metadata(), .entries = {}, .oldest = {}, .prompts = {}};
  ChatSession& session = live->session();
  if (session.store() != nullptr && session.resumed()) {
    REPRISE_ASSIGN(HistoryPart part, read_history(session, Seq{opened.metadata.messages}));
    opened.entries = std::move(part.entries);
    opened.oldest = part.oldest;
    opened.last_input = part.last_input;
    opened.counted_requests = std::move(part.counted_requests);
    opened.prompts = last_prompts(*session.store(), session.current_session(), kPromptsMax)
                         .value_or(std::vector<std::string>{});
  }
  live->mark_shown();
  {
    const std::lock_guard lock(mutex_);
    tabs_[tab] = std::move(live);
  }
  parts_.events.post(std::move(opened));
  return {};
}

Result<> SessionWorker::post_history(TabId tab, LiveSession& live, bool by_others) {
  TabChanged changed{.tab = tab, .metadata = live.metadata(), .by_others = by_others};
  if (live.session().store() == nullptr) {
    parts_.events.post(std::move(changed));
    return {};
  }
  REPRISE_ASSIGN(HistoryPart part, read_history(live.session(), Seq{changed.metadata.messages}));
  changed.history_changed = true;
  changed.entries = std::move(part.entries);
  changed.oldest = part.oldest;
  changed.last_input = part.last_input;
  changed.counted_requests = std::move(part.counted_requests);
  live.mark_shown();
  parts_.events.post(std::move(changed));
  return {};
}

// A server is not asked again and again: it may be slow or away, and jobs would wait for it.
Result<> SessionWorker::show_changes(LiveSession& live, const CheckChanges& request) {
  ProgramConfig& config = live.session().context().config();
  REPRISE_ASSIGN(const Settings* const settings, config.settings());
  if (live.is_running() || has_jobs() || is_on_a_server(config.store_url(*settings)) ||
      !(request.missed || live.has_other_messages())) {
    return {};
  }
  announce(Announcement::Kind::status, "another program has changed this session");
  return post_history(request.tab, live, true);
}

}  // namespace reprise::cli::app
