#include "cli/session_setup.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/http.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/program/context.h"
#include "cli/retention.h"
#include "cli/settings/provider_choice.h"
#include "cli/settings/request_choice.h"
#include "cli/settings/run_flags.h"
#include "cli/settings/settings.h"
#include "cli/spills.h"
#include "cli/store_rules.h"
#include "engine/builtin_tools.h"
#include "reprise/conversation.h"
#include "reprise/environment.h"
#include "reprise/error.h"
#include "reprise/json.h"
#include "reprise/message.h"
#include "reprise/mode.h"
#include "reprise/open_store.h"
#include "reprise/provider.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/tool.h"
#include "reprise/types.h"

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNothingHere = "there is no session of this folder to go on with";

constexpr std::chrono::milliseconds kServerPause{100};

// A store that cannot be had is no reason not to talk, a wrong URL is.
bool goes_on_unsaved(const Error& error) {
  return error.code != Code::invalid_argument && error.code != Code::unsupported;
}

Result<const Mode*> find_mode(Context& context, const RunFlags& flags) {
  if (!flags.mode) {
    return nullptr;
  }
  REPRISE_ASSIGN(const Settings* settings, context.settings());
  const auto found = settings->modes.find(*flags.mode);
  if (found != settings->modes.end()) {
    return &found->second;
  }
  std::string names;
  for (const auto& [name, mode] : settings->modes) {
    names += cat(names.empty() ? "; there are " : ", ", name);
  }
  return fail(Code::not_found, cat("no mode is called '", *flags.mode, "'",
                                   names.empty() ? "; the config has no [mode.NAME]" : names));
}

Result<fs::path> session_folder(Context& context, const Mode* mode, const fs::path& given) {
  if (given.empty()) {
    if (mode != nullptr && mode->path == PathPolicy::required) {
      return fail(Code::invalid_argument, cat("mode ", mode->name, " needs a folder"));
    }
    return context.working_dir();
  }
  std::error_code error;
  fs::path folder = fs::canonical(given, error);
  if (error || !fs::is_directory(folder, error)) {
    return fail(Code::not_found, cat("no such folder: ", given.string()));
  }
  return folder;
}

// A project's prompt is used, but not unseen.
void note_system(Context& context, const Settings& settings) {
  if (settings.system && settings.is_untrusted("system")) {
    context.warn_once(cat("the system prompt comes from ", settings.untrusted_file,
                          ", and its folder is not trusted"));
  }
}

Result<std::string> system_prompt(Context& context, const Mode* mode, const fs::path& folder,
                                  std::stop_token stop) {
  REPRISE_ASSIGN(const Settings* settings, context.settings());
  if (mode == nullptr) {
    note_system(context, *settings);
    return settings->system.value_or("");
  }
  return load_context(
      *mode, folder, [&](std::string_view line) { context.note(line); }, std::move(stop));
}

// Where a server that is not the provider's own was, so that the session goes back to it. Secrets
// in the URL are not stored: the settings that had it are needed again.
RawJson session_config(const ProviderChoice& choice) {
  const std::string& url = choice.options.base_url;
  if (url.empty()) {
    return {};
  }
  std::string out;
  json::ObjectWriter object(out);
  object.field("base_url", http::masked_url(url)).close();
  return RawJson::parse(out).value_or(RawJson());
}

// What another program changed is gone on with only when that is asked for.
Result<> check_signature(Store& store, const SessionInfo& info, bool force) {
  Signatures* const signatures = store.offers().signatures;
  if (signatures == nullptr) {
    return {};
  }
  REPRISE_ASSIGN(const Signature signature, signatures->signature(info.id));
  if (signature != Signature::failed) {
    return {};
  }
  if (force) {
    return signatures->accept(info.id);
  }
  return fail(Code::corrupt,
              cat("the signature of '", info.title,
                  "' does not match: another program changed it, or signed it on another host; "
                  "--force goes on with it as it is"));
}

// A session that is found again: what was cut is settled, what was closed is open again.
Result<Session> resume(Context& context, Talk& talk, const TalkRequest& request) {
  const SessionChoice& choice = request.session;
  Store& store = *talk.store;
  const std::string sel = choice.sel.value_or("last");
  auto found = context.select(store, sel);
  if (!found && !choice.sel && found.error().code == Code::not_found) {
    return fail(Code::not_found, std::string(kNothingHere));
  }
  if (!found && choice.in_project && found.error().code == Code::not_found) {
    return fail(Code::not_found, cat("Session not found: ", sel, "; see `reprise list --all`"));
  }
  if (!found) {
    return std::unexpected(std::move(found).error());
  }
  if (choice.in_project) {
    REPRISE_TRY(check_project(context, *found));
  }
  if (!talk.tools.empty()) {
    REPRISE_TRY(context.allow_tools_in(found->working_dir));
  }
  if (!request.dry_run) {
    REPRISE_TRY(check_signature(store, *found, request.flags.force));
    REPRISE_ASSIGN(talk.cut, settle_interrupted(store, found->id, context.clock(), request.stop));
    if (found->state == SessionState::closed) {
      REPRISE_TRY(store.update(
          found->id, {.state = SessionState::active, .closed_at = std::optional<Time>()}));
    }
  }
  std::error_code error;
  if (const std::string& folder = found->working_dir;
      !folder.empty() && folder != context.project() && !fs::is_directory(folder, error)) {
    context.warn(cat("the session's folder is gone: ", folder));
  }
  REPRISE_ASSIGN(Session session, get(store, found->id));
  REPRISE_TRY(check_can_go_on(store, session));
  return session;
}

// A setting that a session brings along; some programs write numbers as text.
template <class Number>
std::optional<Number> number_of(const Session* session, std::string_view name) {
  if (session == nullptr) {
    return std::nullopt;
  }
  std::string_view value = json::find_member(session->config.text(), name);
  if (value.size() > 2 && value.starts_with('"')) {
    value = value.substr(1, value.size() - 2);
  }
  Number number{};
  const char* const last = value.data() + value.size();
  const auto [end, code] = std::from_chars(value.data(), last, number);
  return code == std::errc{} && end == last && number >= 0 ? std::optional(number) : std::nullopt;
}

// Flags, what the session was held with, the settings.
ConversationOptions conversation_options(const Settings& settings, const TalkRequest& request,
                                         const ProviderChoice& choice, const Talk& talk,
                                         const Session* session) {
  const Session* const own = choice.is_sessions_own ? session : nullptr;
  const RunFlags& flags = request.flags;
  ConversationOptions options;
  options.model = choice.model;
  options.system = flags.system;
  options.temperature =
      flags.temperature.or_else([&] { return number_of<double>(own, "temperature"); }).or_else([&] {
        return settings.temperature;
      });
  options.max_tokens = flags.max_tokens
                           .or_else([&] {
                             const auto stored = number_of<std::int64_t>(own, "max_tokens");
                             return stored == 0 ? std::nullopt : stored;
                           })
                           .or_else([&] { return settings.max_tokens; });
  if (const auto budget = flags.budget ? flags.budget : settings.budget) {
    options.budget = TokenCount{*budget};
  }
  options.tools = talk.tools.empty() ? nullptr : &talk.tools;
  options.approver = request.approver;
  options.spill = talk.spill.get();
  options.stream = request.stream && settings.stream.value_or(true);
  return options;
}

Result<> choose_tools(ToolRegistry& out, std::string_view wanted) {
  ToolRegistry all;
  add_builtin_tools(all);
  if (wanted == "all") {
    out = std::move(all);
    return {};
  }
  while (wanted != "none" && !wanted.empty()) {
    const std::size_t comma = std::min(wanted.find(','), wanted.size());
    const std::string_view name = trimmed(wanted.substr(0, comma));
    wanted.remove_prefix(std::min(comma + 1, wanted.size()));
    if (name == "recall:all") {
      // What was said in other projects is shown by name only, never as one of all.
      REPRISE_TRY(out.add(make_recall_all_tool()));
      continue;
    }
    const Tool* const tool = all.find(name);
    if (tool == nullptr) {
      std::string names;
      for (const ToolSpec& spec : all.specs()) {
        names += cat(names.empty() ? "" : ", ", spec.name);
      }
      return fail(Code::not_found,
                  cat("no tool is called '", name, "'; there are ", names, ", recall:all"));
    }
    REPRISE_TRY(out.add(*tool));
  }
  return {};
}

// A new session, not stored yet.
Result<Session> new_session(Context& context, const TalkRequest& request, const Mode* mode,
                            const ProviderChoice& choice) {
  REPRISE_ASSIGN(const fs::path folder, session_folder(context, mode, request.session.mode_path));
  REPRISE_ASSIGN(std::string system, system_prompt(context, mode, folder, request.stop));
  const Time now = context.clock().now();
  return Session{.info = {.id = make_session_id(context.clock(), system_entropy()),
                          .title = request.title,
                          .mode = mode == nullptr ? "" : mode->name,
                          .provider = choice.name,
                          .model = choice.model,
                          .working_dir = utf8::sanitize(folder.native()),
                          .created_at = now,
                          .updated_at = now},
                 .system_prompt = std::move(system),
                 .config = session_config(choice)};
}

// Without words there is nothing to keep before the first answer.
Result<> create_in_store(Context& context, Talk& talk, Session& session) {
  REPRISE_ASSIGN(Store* const store, context.store(Access::write));
  REPRISE_TRY(check_provider_for(*store, *talk.provider));
  if (const UuidVersion version = store->holds().new_ids; version != UuidVersion::v7) {
    session.info.id = make_session_id(context.clock(), system_entropy(), version);
  }
  if (store->holds().words) {
    Beginning* const beginning = store->offers().beginning;
    REPRISE_TRY(beginning != nullptr ? beginning->begin(session) : store->create(session));
  }
  talk.store = store;
  return {};
}

ProviderOptions provider_options(const Settings& settings, const ProviderChoice& choice) {
  ProviderOptions options = choice.options;
  options.answer_bytes_max = settings.max_answer_bytes.value_or(options.answer_bytes_max);
  if (const auto own = settings.providers.find(choice.name); own != settings.providers.end()) {
    options.store = own->second.store;
  }
  return options;
}

// Leaves talk.store null when the session can only be held in memory.
Result<> store_new(Context& context, Talk& talk, Session& session) {
  auto stored = create_in_store(context, talk, session);
  if (!stored && !goes_on_unsaved(stored.error())) {
    return stored;
  }
  if (!stored) {
    context.warn(cat("this conversation is not saved: ", stored.error().message));
  }
  return {};
}

Result<Store*> open_for_resume(Context& context, const TalkRequest& request) {
  auto store = request.dry_run ? context.store(Access::read) : context.existing_store();
  if (!store && store.error().code == Code::not_found && !request.session.sel) {
    return fail(Code::not_found, std::string(kNothingHere));
  }
  return store;
}

}  // namespace

Result<> check_project(Context& context, const SessionInfo& info) {
  std::error_code error;
  if (info.working_dir.empty() || !info.mode.empty() || info.working_dir == context.project()) {
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

namespace {

// What a person should know of who answers; unsupported for what the provider cannot take.
Result<> announce_choice(Context& context, const TalkRequest& request, const ProviderChoice& choice,
                         const std::optional<Session>& session) {
  if (session && session->info.model.empty() && !request.flags.model) {
    context.remark(
        cat("the session names no model: ", choice.model, " answers, --model chooses another"));
  }
  if (request.has_pdf_by_url && choice.name == "openai-chat") {
    return fail(Code::unsupported,
                "openai-chat takes no PDF by URL: download it and attach the file");
  }
  for (const std::string& warning : choice.warnings) {
    context.warn_once(warning);
  }
  return {};
}

// Waits as a running conversation does, for a standby that takes over, and warns when that is in
// vain. nullopt: it is there, or fails in another way, or the store is no server's.
std::optional<Error> wait_for_server(Context& context, const Settings& settings,
                                     const std::stop_token& stop) {
  if (context.store_url(settings).find("://") == std::string::npos) {
    return std::nullopt;
  }
  const auto deadline = std::chrono::steady_clock::now() + StoreOptions{}.busy_timeout;
  for (bool has_said = false;;) {
    const auto store = context.store(Access::write);
    if (store || (store.error().code != Code::io && store.error().code != Code::timeout)) {
      return std::nullopt;
    }
    if (std::chrono::steady_clock::now() >= deadline || stop.stop_requested()) {
      context.warn(cat("this conversation is not saved: ", store.error().message));
      return store.error();
    }
    if (!std::exchange(has_said, true)) {
      context.remark(cat("waiting for the server: ", store.error().message));
    }
    std::this_thread::sleep_for(kServerPause);
  }
}

// Of a session whose server is away: what could not be saved on this machine before. nullopt when
// that is nothing; then there is a conversation all the same.
Result<std::optional<Session>> resume_held(Context& context, const Settings& settings,
                                           const Talk& talk, const TalkRequest& request,
                                           std::vector<Message>& earlier) {
  REPRISE_ASSIGN(const HeldSessions held, held_sessions(context, context.store_url(settings)));
  const auto found = context.select(*held.store, request.session.sel.value_or("last"));
  if (!found && found.error().code != Code::not_found) {
    return std::unexpected(found.error());
  }
  if (!found) {
    context.warn("nothing of the session is on this machine: this begins another one");
    return std::nullopt;
  }
  if (request.session.in_project) {
    REPRISE_TRY(check_project(context, *found));
  }
  if (!talk.tools.empty()) {
    REPRISE_TRY(context.allow_tools_in(found->working_dir));
  }
  context.remark(cat("going on with '", found->title, "' as this machine has it"));
  REPRISE_ASSIGN(Session session, get(*held.store, found->id));
  REPRISE_ASSIGN(earlier, read_all(*held.store, found->id));
  session.info.head = held.begin.at(found->id);
  if (session.info.head.value > 0) {
    context.warn(
        "only what could not be saved of the session is on this machine: the model does "
        "not see what was said before");
  }
  return session;
}

// What a resumed session goes on under; nullopt: its own system prompt.
Result<std::optional<std::string>> resumed_system(Context& context, const Mode* mode,
                                                  const Talk& talk, const Session& session,
                                                  const std::stop_token& stop) {
  if (mode != nullptr) {
    return system_prompt(context, mode, session.info.working_dir, stop);
  }
  if (talk.store != nullptr && !talk.store->holds().words && session.system_prompt.empty()) {
    return instructions_of(context, session, stop);
  }
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<Talk>> start_talk(Context& context, TalkRequest request) {
  REPRISE_ASSIGN(const Settings* settings, context.settings());
  REPRISE_ASSIGN(const Mode* mode, find_mode(context, request.flags));
  auto talk = std::make_unique<Talk>();
  REPRISE_TRY(choose_tools(talk->tools, request.flags.tools.value_or("none")));
  if (!request.dry_run && expects_http(context, request.flags, *settings)) {
    talk->preloading = preload_http();
  }
  std::optional<Session> session;
  std::vector<Message> earlier;
  const std::optional<Error> away =
      request.dry_run ? std::nullopt : wait_for_server(context, *settings, request.stop);
  if (!away && !request.session.newest && !request.session.sel && !request.session.fresh) {
    REPRISE_ASSIGN(const auto usual,
                   usual_session(context, request.dry_run ? Access::read : Access::write));
    if (usual) {
      request.session.sel = usual->str();
    }
  }
  talk->resumed = request.session.newest || request.session.sel.has_value();
  if (talk->resumed && away) {
    REPRISE_ASSIGN(session, resume_held(context, *settings, *talk, request, earlier));
    talk->resumed = session.has_value();
  } else if (talk->resumed) {
    REPRISE_ASSIGN(talk->store, open_for_resume(context, request));
    REPRISE_ASSIGN(session, resume(context, *talk, request));
  }
  RunFlags flags = request.flags;
  flags.sends_nothing = request.dry_run;
  REPRISE_ASSIGN(ProviderChoice choice,
                 choose_provider(context, flags,
                                 session && settings->context_file.empty() ? &*session : nullptr,
                                 mode == nullptr ? "" : mode->model));
  REPRISE_TRY(announce_choice(context, request, choice, session));
  REPRISE_ASSIGN(RequestOptions asked, choose_request(context, request.flags, *settings, choice));
  REPRISE_ASSIGN(talk->provider, make_provider(choice.name, provider_options(*settings, choice)));
  talk->model = choice.model;
  talk->spill = make_spill(context, *settings);
  ConversationOptions options =
      conversation_options(*settings, request, choice, *talk, session ? &*session : nullptr);
  options.request = std::move(asked);
  options.earlier = std::move(earlier);
  if (!session) {
    REPRISE_ASSIGN(session, new_session(context, request, mode, choice));
    if (!request.dry_run && !away) {
      REPRISE_TRY(store_new(context, *talk, *session));
    }
    if (talk->store != nullptr && !talk->store->holds().words) {
      leave_out_words(*session, mode, options);
    }
  } else if (!options.system) {
    REPRISE_ASSIGN(options.system, resumed_system(context, mode, *talk, *session, request.stop));
  }
  if (talk->store != nullptr && talk->resumed) {
    REPRISE_TRY(check_provider_for(*talk->store, *talk->provider));
  }
  if (talk->store != nullptr && !request.dry_run) {
    clean_up(context, *talk->store, *settings);
    make_current(context, *talk->store, session->info.id, request.session.archive);
  }
  talk->conversation = std::make_unique<Conversation>(*talk->provider, talk->store,
                                                      *std::move(session), std::move(options));
  return talk;
}

}  // namespace reprise::cli
