// A start is a sequence of steps, each of which returns its result as a value.

#include "cli/session/start_session.h"

#include <system_error>

#include "base/assert.h"
#include "base/command_line.h"
#include "base/utf8.h"
#include "choice/provider_names.h"
#include "choice/resolve.h"
#include "cli/output/session_json.h"
#include "cli/program/store_opener.h"
#include "cli/provider/request_choice.h"
#include "cli/session/find_session.h"
#include "cli/session/server_notes.h"
#include "cli/settings/context_file.h"
#include "cli/settings/time_value.h"
#include "reprise/sessions.h"
#include "session/outbox.h"
#include "session/session_config.h"

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;

// The usual session, if the request does not name one.
Result<SessionChoice> resolve_choice(Context& context, const StartRequest& request,
                                     bool is_unreachable) {
  SessionChoice choice = request.session;
  if (!is_unreachable && !choice.newest && !choice.sel && !choice.new_session) {
    REPRISE_ASSIGN(const auto current,
                   find_default_session(context, request.dry_run ? Access::read : Access::write));
    if (current) {
      choice.sel = current->str();
    }
  }
  return choice;
}

Result<ProviderChoice> choose_answering_provider(Context& context, const StartRequest& request,
                                                 const Mode* mode,
                                                 const std::optional<Session>& session) {
  RunFlags flags = request.flags;
  flags.sends_nothing = request.dry_run;
  REPRISE_ASSIGN(ProviderChoice choice,
                 choose_provider(context, flags, session ? &*session : nullptr,
                                 mode == nullptr ? "" : mode->model));
  if (session && session->info.model.empty() && !flags.model) {
    context.console().notice(cat(session->info.forked_from ? "continuing the fork with "
                                                           : "the session has no model: using ",
                                 choice.model, "; --model names another"));
  }
  if (request.has_pdf_by_url && choice.kind == kCompatibleKind) {
    return fail(Code::unsupported,
                "openai-chat does not accept a PDF by URL: download it and attach the file");
  }
  for (const std::string& warning : choice.warnings) {
    context.console().warn_once(warning);
  }
  if (!request.dry_run) {
    REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
    remember_server(context, *settings, choice);
  }
  return choice;
}

ContextObserver context_observer(Context& context) {
  return {.on_note = [&context](std::string_view line) { context.console().note(line); },
          .on_warning = [&context](std::string_view text) { context.console().warn(text); }};
}

SystemPromptSources instruction_sources(Context& context, const Settings& settings) {
  return {.modes = settings.modes,
          .default_text = settings.system,
          .folder = context.config().working_dir(),
          .observer = context_observer(context)};
}

Result<fs::path> session_folder(Context& context, const Mode* mode, const fs::path& given) {
  if (given.empty()) {
    if (mode != nullptr && mode->path == PathPolicy::required) {
      return fail(Code::invalid_argument,
                  cat("mode ", mode->name,
                      " needs a folder: ", shell_command({"chat", "--mode", mode->name, "PATH"})));
    }
    return context.config().working_dir();
  }
  std::error_code error;
  fs::path folder = fs::canonical(given, error);
  if (error || !fs::is_directory(folder, error)) {
    return fail(Code::not_found, cat("no such folder: ", given.string()));
  }
  return folder;
}

// A mode from an untrusted project is used, with a warning.
void warn_of_mode(Context& context, const Settings& settings, std::string_view mode) {
  if (settings.is_untrusted(cat("mode.", mode))) {
    context.console().warn_once(cat("the mode ", mode, " comes from ", settings.untrusted_file,
                                    ", and its folder is not trusted"));
  }
}

// A system prompt from an untrusted project is used, with a warning.
Result<std::string> new_instructions(Context& context, const Settings& settings, const Mode* mode,
                                     const fs::path& folder, std::stop_token stop) {
  if (mode != nullptr) {
    return load_context(*mode, folder, context_observer(context), std::move(stop));
  }
  if (settings.system && settings.is_untrusted("system")) {
    context.console().warn_once(cat("the system prompt comes from ", settings.untrusted_file,
                                    ", and its folder is not trusted"));
  }
  return settings.system.value_or("");
}

// A new session; not stored yet.
Result<Session> new_session(Context& context, const Settings& settings, const StartRequest& request,
                            const Mode* mode, const ProviderChoice& choice) {
  REPRISE_ASSIGN(const fs::path folder, session_folder(context, mode, request.session.mode_path));
  REPRISE_ASSIGN(std::string system,
                 new_instructions(context, settings, mode, folder, request.stop));
  const RawJson of_file = new_context_config(settings);
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
                 .config = of_file.is_null() ? session_config(choice.options.base_url) : of_file};
}

// If another process has begun the only session of the store since it was looked for, a session
// that was not asked for goes on in that one.
Result<> prepare_new(const StartRequest& request, Store& store, const Provider& provider,
                     Session& session, Clock& clock) {
  const bool may_be_another = !store.capabilities().many_sessions && !request.session.new_session;
  return may_be_another ? check_provider(store, provider)
                        : prepare_session(store, provider, session, clock);
}

// Null if the session will only be in memory, because the store is unavailable. Invalid URLs are
// errors.
Result<Store*> open_for_new(Context& context, const StartRequest& request, const Provider& provider,
                            Session& session) {
  const auto store = context.stores().open(Access::write);
  const Result<> prepared = store
                                ? prepare_new(request, **store, provider, session, context.clock())
                                : Result<>(std::unexpected(store.error()));
  if (prepared) {
    return *store;
  }
  if (const Code code = prepared.error().code;
      code == Code::invalid_argument || code == Code::unsupported) {
    return std::unexpected(prepared.error());
  }
  context.console().warn(cat("this session is not saved: ", prepared.error().message));
  return nullptr;
}

void name_current(Context& context, Store& store, const SessionId& id, bool archive) {
  const auto archived = make_current(store, id, archive, context.clock());
  if (!archived) {
    context.console().warn(archived.error().message);
  } else if (const std::optional<SessionId>& old = *archived; old) {
    const std::optional<Session> session = store.find(*old).value_or(std::nullopt);
    context.console().notice(
        cat("archived ", session ? session_name(store, session->info) : brief_id(store, *old)));
  }
}

// Stands for the provider of a session that none can continue.
class NoProvider final : public Provider {
 public:
  explicit NoProvider(Error reason) : reason_(std::move(reason)) {}
  std::string_view name() const override { return "none"; }
  Result<> stream(Request& /*request*/, const StreamSink& /*sink*/,
                  std::stop_token /*stop*/) override {
    return std::unexpected(reason_);
  }
  Result<std::string> dry_run(Request& /*request*/) override { return std::unexpected(reason_); }

 private:
  Error reason_;
};

// The input of both kinds of start.
struct Prepared {
  const Settings& settings;
  const StartRequest& request;
  const Mode* mode;
  const ProviderChoice& choice;
  bool is_unreachable;
};

Result<Session> begin_new(Context& context, const Prepared& with, StartedSession& started,
                          ConversationOptions& options) {
  REPRISE_ASSIGN(Session session,
                 new_session(context, with.settings, with.request, with.mode, with.choice));
  if (!with.request.dry_run && !with.is_unreachable) {
    const auto store = open_for_new(context, with.request, *started.provider, session);
    if (!store && !is_server_unreachable(context, with.settings, store.error())) {
      return std::unexpected(store.error());
    }
    if (!store) {
      warn_unsaved(context, store.error());
    }
    started.store = store.value_or(nullptr);
  }
  if (started.store == nullptr) {
    return session;
  }
  if (!started.store->capabilities().messages) {
    clear_system_prompt(session, with.mode, options);
  }
  options.is_new = true;
  options.title_from_question = true;
  options.on_session_stored = [&context, &store = *started.store, id = session.info.id,
                               archive = with.request.session.archive] {
    name_current(context, store, id, archive);
  };
  return session;
}

// A fork of another tool's session continues with the provider of its first answer.
Result<> store_provider(const Prepared& with, Store& store, Session& session) {
  SessionInfo& info = session.info;
  if (!info.provider.empty() || !info.model.empty() || !info.forked_from || with.request.dry_run ||
      with.choice.name.empty()) {
    return {};
  }
  info.provider = with.choice.name;
  info.model = with.choice.model;
  session.config = session_config(with.choice.options.base_url);
  return store.update(info.id,
                      {.provider = info.provider, .model = info.model, .config = session.config});
}

Result<Session> continue_session(Context& context, const Prepared& with,
                                 const StartedSession& started, Session session,
                                 ConversationOptions& options) {
  // Its mode is applied again if its store has no prompts.
  if (with.mode == nullptr && started.store != nullptr && !started.store->capabilities().messages) {
    warn_of_mode(context, with.settings, session.info.mode);
  }
  if (!options.system) {
    REPRISE_ASSIGN(options.system,
                   resumed_system_prompt(instruction_sources(context, with.settings), with.mode,
                                         started.store, session, with.request.stop));
  }
  if (started.store != nullptr) {
    if (!started.refusal) {
      REPRISE_TRY(check_provider(*started.store, *started.provider));
    }
    REPRISE_TRY(store_provider(with, *started.store, session));
  }
  return session;
}

// Applies the setting `retention`, which was validated when it was read. A server's store is not
// one user's: `reprise store sweep` does it there.
void apply_retention(Context& context, Store& store, const Settings& settings) {
  if (!settings.retention || store.capabilities().trash == nullptr ||
      is_on_a_server(context.config().store_url(settings))) {
    return;
  }
  const auto age = parse_duration(*settings.retention);
  REPRISE_ASSERT(age.has_value());
  const RetentionResult result =
      apply_retention(store, *age, context.config().state_folder(), context.clock());
  if (result.clock_jumped) {
    context.console().note(
        "the clock has jumped; no session is moved to the trash because of its age");
  }
  if (result.moved > 0) {
    context.console().notice(
        cat("moved to the trash: ", counted(static_cast<std::int64_t>(result.moved), "session"),
            " closed more than ", *settings.retention, " ago"));
  }
  if (result.error) {
    context.console().warn(cat("cannot clean up: ", result.error->message));
  }
}

void update_store(Context& context, const Prepared& with, const StartedSession& started,
                  const SessionId& id) {
  apply_retention(context, *started.store, with.settings);
  if (started.resumed) {
    name_current(context, *started.store, id, with.request.session.archive);
  }
}

// The author is optional: a server that cannot tell is only warned about.
void set_author(Context& context, const Settings& settings, Source* store,
                ConversationOptions& options) {
  auto author = choose_author(settings, store);
  if (author) {
    options.author = *std::move(author);
  } else {
    context.console().warn(
        cat("the question is stored without an author: ", author.error().message));
  }
}

// `started` has the provider, the tools and the outbox; `found` gives up its earlier messages.
ConversationOptions make_options(Context& context, const Prepared& with, StartedSession& started,
                                 FoundSession& found) {
  ConversationOptions options = conversation_options(with.settings, with.request.flags, with.choice,
                                                     found.session ? &*found.session : nullptr);
  options.approver = with.request.approver;
  options.stream = options.stream && with.request.stream;
  options.tools = started.tools.empty() ? nullptr : &started.tools;
  options.outbox = started.outbox.get();
  options.server_notes = started.server_notes.get();
  options.statistics = &context.stores().watch().statistics();
  options.earlier = std::move(found.earlier);
  return options;
}

// Who answers.
struct Answering {
  ProviderChoice choice = {};
  RequestOptions options = {};
  std::unique_ptr<Provider> provider = {};
};

Result<Answering> choose_answering(Context& context, const Settings& settings,
                                   const StartRequest& request, const Mode* mode,
                                   const std::optional<Session>& session) {
  Answering out;
  REPRISE_ASSIGN(out.choice, choose_answering_provider(context, request, mode, session));
  REPRISE_ASSIGN(out.options, choose_request(context, request.flags, settings, out.choice));
  REPRISE_ASSIGN(out.provider,
                 make_provider(out.choice.kind, choice::provider_options(settings, out.choice)));
  return out;
}

// For a session that nobody can continue, if the caller shows it nevertheless: nobody.
Result<Answering> or_nobody(Result<Answering> chosen, const StartRequest& request,
                            const FoundSession& found, StartedSession& started) {
  if (chosen || !request.keeps_refused || !found.session || found.store == nullptr ||
      !found.store->capabilities().messages || chosen.error().code == Code::cancelled) {
    return chosen;
  }
  started.refusal = chosen.error();
  return Answering{
      .choice = {.name = found.session->info.provider, .model = found.session->info.model},
      .provider = std::make_unique<NoProvider>(std::move(chosen).error())};
}

void make_connections(Context& context, const Settings& settings, StartedSession& started) {
  started.server_notes = make_server_notes(context.config().server_notes_folder());
  if (settings.outbox.value_or(true)) {
    started.outbox =
        make_outbox(context.config().outbox_folder(), context.config().store_url(settings));
  }
}

}  // namespace

Result<std::unique_ptr<StartedSession>> start_session(Context& context, StartRequest request) {
  REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
  REPRISE_ASSIGN(const Mode* const mode, find_mode(*settings, request.flags));
  if (mode != nullptr) {
    warn_of_mode(context, *settings, mode->name);
  }
  if (!settings->context_warning.empty()) {
    context.console().warn_once(settings->context_warning);
  }
  REPRISE_TRY(choose_author(*settings, nullptr));
  auto started = std::make_unique<StartedSession>();
  REPRISE_ASSIGN(started->tools, choose_tools(request.flags.tools.value_or("none")));
  if (!request.dry_run && expects_http(context, request.flags, *settings)) {
    started->preloading = preload_http();
  }
  std::optional<Error> unreachable =
      request.dry_run ? std::nullopt : wait_for_server(context, *settings, request.stop);
  REPRISE_ASSIGN(request.session, resolve_choice(context, request, unreachable.has_value()));
  REPRISE_ASSIGN(FoundSession found,
                 find_session(context, *settings, request, unreachable, !started->tools.empty()));
  started->resumed = found.session.has_value();
  started->store = found.store;
  started->recovered = found.recovered;
  started->gone_folder = found.gone_folder;
  REPRISE_ASSIGN(Answering answering,
                 or_nobody(choose_answering(context, *settings, request, mode, found.session),
                           request, found, *started));
  started->provider = std::move(answering.provider);
  started->provider_name = answering.choice.name;
  started->model = answering.choice.model;
  started->base_url = answering.choice.options.base_url;
  started->is_sessions_own = answering.choice.is_sessions_own;
  make_connections(context, *settings, *started);
  const Prepared with{*settings, request, mode, answering.choice, unreachable.has_value()};
  ConversationOptions options = make_options(context, with, *started, found);
  options.request = std::move(answering.options);
  REPRISE_ASSIGN(Session session,
                 found.session
                     ? continue_session(context, with, *started, *std::move(found.session), options)
                     : begin_new(context, with, *started, options));
  if (started->store != nullptr && !request.dry_run) {
    update_store(context, with, *started, session.info.id);
  }
  set_author(context, *settings, started->store, options);
  started->author = options.author;
  started->conversation = std::make_unique<Conversation>(*started->provider, started->store,
                                                         std::move(session), std::move(options));
  return started;
}

Result<std::string> leave_gone_folder(StartedSession& started, const Result<Outcome>& outcome) {
  if (started.gone_folder.empty() || !outcome || !outcome->saved || started.store == nullptr) {
    return "";
  }
  const std::string left = std::exchange(started.gone_folder, "");
  const SessionInfo& info = started.conversation->session().info;
  REPRISE_ASSIGN(const Session stored, get(*started.store, info.id));
  if (stored.info.working_dir != left) {
    return "";  // another program has moved it
  }
  if (auto moved = started.store->update(info.id, {.working_dir = info.working_dir}); !moved) {
    return fail_with_context(cat("the session still belongs to ", left), std::move(moved).error());
  }
  return cat("the session belongs to ", info.working_dir, " now, as ", left, " is gone");
}

}  // namespace reprise::cli
