#include "cli/session/find_session.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <thread>

#include "base/place.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/program/store_opener.h"
#include "cli/session/tool_consent.h"
#include "reprise/sessions.h"
#include "session/import.h"
#include "session/outbox.h"

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNoSessionHere = "there is no session in this folder to continue";
constexpr std::chrono::milliseconds kServerPause{100};

Result<Store*> open_for_resume(Context& context, const StartRequest& request) {
  auto store =
      request.dry_run ? context.stores().open(Access::read) : context.stores().open_existing();
  if (!store && store.error().code == Code::not_found && !request.session.sel) {
    return fail(Code::not_found, std::string(kNoSessionHere));
  }
  return store;
}

Result<SessionInfo> select(Context& context, Store& store, const SessionChoice& choice) {
  const std::string sel = choice.sel.value_or("last");
  auto found = context.stores().select(store, sel, Use::change);
  if (!found && !choice.sel && found.error().code == Code::not_found) {
    return fail(Code::not_found, std::string(kNoSessionHere));
  }
  if (!found && choice.in_project && found.error().code == Code::not_found) {
    return fail(Code::not_found,
                cat("no session matches '", sel, "'; `", context.config().program(),
                    " list --all` lists those of all folders"));
  }
  return found;
}

Result<> check_folder(Context& context, const Source& source, const SessionInfo& info,
                      const StartRequest& request, bool has_tools) {
  if (request.session.in_project) {
    REPRISE_TRY(check_project(context, source, info));
  }
  if (has_tools) {
    REPRISE_TRY(allow_tools_in(context, info.working_dir, request.stop));
  }
  return {};
}

// Adds advice to the error.
Error with_force_advice(Store& store, const SessionId& id, Error error) {
  Signatures* const signatures = store.capabilities().signatures;
  if (error.code == Code::corrupt && signatures != nullptr &&
      signatures->signature(id) == Signature::failed) {
    error.message += "; --force continues it anyway";
  }
  return error;
}

// What becomes of a session with such a folder.
enum class FolderFate : std::uint8_t {
  stays,    // it is there, or does not matter
  missing,  // it may come back, or cannot be replaced here
  leaves,   // it is gone: the session belongs to the current one from its next turn on
};

// On a terminal the user decides whether a session leaves a folder that is gone.
Result<FolderFate> folder_fate(Context& context, const Store& store, const SessionInfo& info,
                               const StartRequest& request) {
  const std::string& folder = info.working_dir;
  const std::string here = context.config().at_start().project();
  std::error_code error;
  if (folder.empty() || folder == here || fs::is_directory(folder, error)) {
    return FolderFate::stays;
  }
  const SourceCapabilities& can = store.capabilities();
  if (!can.folders || !can.many_folders || can.one_open_per_folder || !is_gone_folder(folder)) {
    return FolderFate::missing;
  }
  if (request.dry_run) {
    return FolderFate::leaves;
  }
  REPRISE_ASSIGN(const auto answer, context.console().ask_once(cat("the session's folder ", folder,
                                                                   " is gone; keep the session in ",
                                                                   here, " from now on?"),
                                                               request.stop));
  return answer.value_or(true) ? FolderFate::leaves : FolderFate::stays;
}

Result<FoundSession> resume_stored(Context& context, const StartRequest& request, bool has_tools) {
  REPRISE_ASSIGN(Store* const store, open_for_resume(context, request));
  REPRISE_ASSIGN(SessionInfo info, select(context, *store, request.session));
  REPRISE_ASSIGN(const FolderFate fate, folder_fate(context, *store, info, request));
  const std::string stored_folder = info.working_dir;
  if (fate == FolderFate::leaves) {
    info.working_dir = context.config().at_start().project();
  }
  REPRISE_TRY(check_folder(context, *store, info, request, has_tools));
  auto resumed = resume_session(*store, info.id,
                                {.change = !request.dry_run,
                                 .accept_changed = request.flags.force,
                                 .clock = context.clock(),
                                 .stop = request.stop});
  if (!resumed) {
    return std::unexpected(with_force_advice(*store, info.id, std::move(resumed).error()));
  }
  if (fate == FolderFate::missing) {
    context.console().warn(cat("the session's folder is not there: ", stored_folder));
  }
  resumed->session.info.working_dir = info.working_dir;
  return FoundSession{.store = store,
                      .session = std::move(resumed->session),
                      .recovered = resumed->recovered,
                      .gone_folder = fate == FolderFate::leaves ? stored_folder : ""};
}

// A position beyond the end of any session: the new messages become a fork at the end when they are
// copied to the server.
constexpr Seq kUnknownHead{1'000'000'000'000};

// Adds sessions of which only the id is known on this machine: the session named by id, and those
// in the last list.
Result<> add_named(Context& context, OutboxSessions& waiting, std::string_view sel,
                   const std::string& title) {
  REPRISE_ASSIGN(std::vector<SessionId> ids, context.stores().listed_ids());
  if (const std::string text = ascii_lower(trimmed(sel)); is_uuid(text)) {
    REPRISE_ASSIGN(SessionId id, SessionId::parse(text));
    ids.push_back(std::move(id));
  }
  const Time now = context.clock().now();
  for (const SessionId& id : ids) {
    if (waiting.begin.try_emplace(id, kUnknownHead).second) {
      REPRISE_TRY(waiting.store->create(
          {.info = {.id = id,
                    .title = title,
                    .working_dir = utf8::sanitize(context.config().working_dir().native()),
                    .created_at = now,
                    .updated_at = now}}));
    }
  }
  return {};
}

// `is_here`: not only its id.
Result<FoundSession> read_waiting(Context& context, const OutboxSessions& waiting,
                                  const SessionInfo& info, bool is_here) {
  if (is_here) {
    context.console().notice(cat("continuing '", info.title, "' as it is on this machine"));
  } else {
    context.console().warn(cat("nothing of session ", short_id(info.id),
                               " is on this machine; the model does not see its messages"));
  }
  FoundSession found;
  REPRISE_ASSIGN(found.session, get(*waiting.store, info.id));
  REPRISE_ASSIGN(found.earlier, read_all(*waiting.store, info.id));
  found.session->info.head = waiting.begin.at(info.id);
  if (is_here && found.session->info.head.value > 0) {
    context.console().warn(
        "only the unsaved part of the session is on this machine; the model does not see its "
        "earlier messages");
  }
  return found;
}

// Resumes the unsaved part of a session while the server is unreachable. Without one, starts a new
// session, unless a session was named that cannot be identified here, or an answer is to be
// continued.
Result<FoundSession> resume_waiting(Context& context, const Settings& settings,
                                    const StartRequest& request, const Error& unreachable,
                                    bool has_tools) {
  REPRISE_ASSIGN(
      OutboxSessions waiting,
      read_outboxes(context.config().outbox_folder(), context.config().store_url(settings),
                    [&](std::string_view text) { context.console().warn(text); }));
  const auto find = [&] {
    return context.stores().select(*waiting.store, request.session.sel.value_or("last"),
                                   Use::change);
  };
  auto info = find();
  const bool is_here = info.has_value();
  if (!info && info.error().code == Code::not_found && request.continue_turn) {
    return fail(unreachable.code, cat(unreachable.message,
                                      "; the answer to continue is not on this machine: try"
                                      " again when the server is back"));
  }
  if (!info && info.error().code == Code::not_found && request.session.sel) {
    REPRISE_TRY(add_named(context, waiting, *request.session.sel, request.title));
    info = find();
  }
  if (!info && info.error().code != Code::not_found) {
    return std::unexpected(info.error());
  }
  if (!info && request.session.sel) {
    return fail(unreachable.code,
                cat(unreachable.message, "; nothing of session '", *request.session.sel,
                    "' is on this machine: name it by its id, or try again when the "
                    "server is back"));
  }
  warn_unsaved(context, unreachable);
  if (!info) {
    context.console().warn("nothing of the session is on this machine; starting a new one");
    return FoundSession{};
  }
  REPRISE_TRY(check_folder(context, *waiting.store, *info, request, has_tools));
  return read_waiting(context, waiting, *info, is_here);
}

const SourceKind* kind_in(std::string_view sel) {
  const std::size_t colon = sel.find(':');
  if (colon == std::string_view::npos) {
    return nullptr;
  }
  const auto kinds = source_kinds();
  const auto found = std::ranges::find(kinds, sel.substr(0, colon), &SourceKind::name);
  return found == kinds.end() ? nullptr : &*found;
}

}  // namespace

Result<> check_project(Context& context, const Source& source, const SessionInfo& info) {
  std::error_code error;
  if (!source.capabilities().one_open_per_folder || info.working_dir.empty() ||
      !info.mode.empty() || info.working_dir == context.config().project()) {
    return {};
  }
  if (!fs::exists(info.working_dir, error)) {
    return fail(Code::not_found, "Project path no longer exists.");
  }
  if (!fs::is_directory(info.working_dir, error)) {
    return fail(Code::invalid_argument, "Project path is not a directory.");
  }
  return {};
}

Result<std::optional<SessionId>> find_default_session(Context& context, Access access) {
  REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
  const bool creates_nothing = access == Access::read || !settings->context_file.empty();
  const auto store =
      creates_nothing ? context.stores().open(access) : context.stores().open_existing();
  if (!store) {
    return std::nullopt;
  }
  return default_session(**store);
}

void warn_unsaved(Context& context, const Error& unreachable) {
  context.console().warn(cat("this session is not saved: ", unreachable.message));
}

bool is_server_unreachable(Context& context, const Settings& settings, const Error& error) {
  return is_on_a_server(context.config().store_url(settings)) && error.os_errno != EACCES &&
         (error.code == Code::io || error.code == Code::timeout || error.os_errno == EAGAIN);
}

std::optional<Error> wait_for_server(Context& context, const Settings& settings,
                                     const std::stop_token& stop) {
  if (!is_on_a_server(context.config().store_url(settings))) {
    return std::nullopt;
  }
  const auto deadline = std::chrono::steady_clock::now() + StoreOptions{}.busy_timeout;
  for (bool has_warned = false;;) {
    const auto store = context.stores().open(Access::write);
    if (store || !is_server_unreachable(context, settings, store.error())) {
      return std::nullopt;
    }
    if (std::chrono::steady_clock::now() >= deadline || stop.stop_requested()) {
      return store.error();
    }
    if (!std::exchange(has_warned, true)) {
      context.console().notice(cat("waiting for the server: ", store.error().message));
    }
    std::this_thread::sleep_for(kServerPause);
  }
}

Result<FoundSession> find_session(Context& context, const Settings& settings,
                                  const StartRequest& request, std::optional<Error>& unreachable,
                                  bool has_tools) {
  if (!request.session.newest && !request.session.sel) {
    if (unreachable) {
      warn_unsaved(context, *unreachable);
    }
    return FoundSession{};
  }
  if (!unreachable) {
    auto found = resume_stored(context, request, has_tools);
    if (found || request.dry_run || !is_server_unreachable(context, settings, found.error())) {
      return found;
    }
    unreachable = std::move(found).error();
  }
  return resume_waiting(context, settings, request, *unreachable, has_tools);
}

Result<std::string> adopt_session(Context& context, std::string sel) {
  const SourceKind* const kind = kind_in(sel);
  if (kind == nullptr) {
    return sel;
  }
  const std::string url = cat(kind->name, ":");
  const std::string named = sel.substr(url.size());
  REPRISE_ASSIGN(const std::unique_ptr<Source> source, context.stores().open_source_at(url));
  // Numbers refer to the tool's own list.
  REPRISE_ASSIGN(const SessionInfo info,
                 context.stores().select(*source, named.empty() ? "last" : named, Use::read,
                                         every_state(), url));
  REPRISE_ASSIGN(Store* const store, context.stores().open(Access::write));
  REPRISE_ASSIGN(const ContinuedSession continued,
                 continue_imported(*source, kind->name, *store, info, context.clock()));
  for (const std::string& part : continued.damage) {
    context.console().warn(part);
  }
  context.console().notice(
      cat("continuing ", kind->title, "'s session in a fork: ", short_id(continued.id)));
  return continued.id.str();
}

}  // namespace reprise::cli
