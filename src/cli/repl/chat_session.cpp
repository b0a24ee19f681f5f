#include "cli/repl/chat_session.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <stop_token>

#include "base/terminal_text.h"
#include "base/text.h"
#include "choice/settings.h"
#include "cli/output/session_json.h"
#include "cli/output/session_text.h"
#include "cli/program/open_sessions.h"
#include "cli/session/start_session.h"
#include "cli/settings/program_config.h"
#include "export/transcript.h"
#include "session/session_config.h"

namespace reprise::cli {

namespace {

std::string todo_list(const std::vector<Todo>& todos) {
  return todos.empty() ? "no todos\n" : todo_lines(todos);
}

}  // namespace

struct ChatSession::Published {
  explicit Published(const Conversation& conversation)
      : session(conversation.session()), is_stored(conversation.is_session_stored()) {}

  std::mutex mutex;  // guards the others
  Session session;
  bool is_stored;
};

ChatSession::ChatSession(Context& context, RunFlags flags, Approver approver,
                         std::unique_ptr<StartedSession> started)
    : context_(context),
      flags_(std::move(flags)),
      approver_(std::move(approver)),
      started_(std::move(started)),
      published_(std::make_unique<Published>(*started_->conversation)),
      is_new_(!started_->resumed),
      stored_before_(is_new_ ? 0 : stored_count()) {
  if (is_new_) {
    // Not repeated: the new session already has the mode's prompt.
    flags_.mode.reset();
  }
  mark();
}

ChatSession::~ChatSession() = default;
ChatSession::ChatSession(ChatSession&& other) noexcept = default;

void ChatSession::mark() {
  mark_.reset();
  const auto settings = context_.config().settings();
  if (!settings || store() == nullptr || !store()->capabilities().many_sessions) {
    return;
  }
  const SessionInfo& info = conversation().session().info;
  auto mark = mark_open(context_.config().state_folder(),
                        {.store_url = context_.config().absolute_url(**settings),
                         .id = info.id,
                         .folder = info.working_dir});
  if (mark) {
    mark_.emplace(*std::move(mark));
  } else {
    context_.console().note(
        cat("other programs do not see that this session is open: ", mark.error().message));
  }
}

Conversation& ChatSession::conversation() {
  return *started_->conversation;
}

Provider& ChatSession::provider() {
  return *started_->provider;
}

Store* ChatSession::store() {
  return started_->store;
}

SessionId ChatSession::id() const {
  const std::lock_guard lock(published_->mutex);
  return published_->session.info.id;
}

void ChatSession::publish() {
  const std::lock_guard lock(published_->mutex);
  published_->session = conversation().session();
  published_->is_stored = conversation().is_session_stored();
}

Result<std::string> ChatSession::leave_gone_folder(const Result<Outcome>& outcome) {
  return cli::leave_gone_folder(*started_, outcome);
}

std::string ChatSession::refusal() const {
  const auto& refusal = started_->refusal;
  return refusal ? cat(refusal->message,
                       "; `/provider NAME` continues this session with another provider")
                 : "";
}

Result<std::string> ChatSession::saved_to() {
  REPRISE_ASSIGN(const Settings* const settings, context_.config().settings());
  if (store() == nullptr) {
    return fail(Code::io, "Failed to save: the store could not be opened");
  }
  if (!is_saved()) {
    return std::string("nothing to save yet: a session is stored with its first message");
  }
  // Messages are stored already; this checks that the session can be found.
  if (const auto found = get(*store(), id()); !found) {
    return fail(found.error().code, cat("Failed to save: ", found.error().message));
  }
  constexpr std::string_view kSessions = "sessions:";
  const std::string url = context_.config().store_url(*settings);
  std::string path = url.substr(url.find(':') + 1);
  if (url.starts_with(kSessions)) {
    path += cat("/active/", id().str(), ".json");
  }
  return cat("Session saved to: ", path);
}

Result<> ChatSession::close_stored() {
  const auto now = get_snapshot(*store(), id());
  if (!store()->capabilities().many_sessions || (now && now->session.info.incomplete)) {
    return {};
  }
  const auto closed = store()->update(
      id(), {.state = SessionState::closed, .closed_at = std::optional(context_.clock().now())});
  return !closed && closed.error().code == Code::unsupported ? Result<>() : closed;
}

const std::optional<Author>& ChatSession::author() const {
  return started_->author;
}

const std::string& ChatSession::model() const {
  return started_->model;
}

const std::string& ChatSession::provider_name() const {
  return started_->provider_name;
}

Session ChatSession::current_session() {
  if (started_->store != nullptr) {
    if (auto found = started_->store->find(id()).value_or(std::nullopt); found) {
      return *std::move(found);
    }
  }
  const std::lock_guard lock(published_->mutex);
  return published_->session;
}

std::int64_t ChatSession::stored_count() {
  const Session session = current_session();
  return session.info.head.value + std::ssize(session.response_chain);
}

bool ChatSession::is_saved() {
  if (started_->store == nullptr) {
    return false;
  }
  std::unique_lock lock(published_->mutex);
  if (!started_->store->capabilities().messages) {
    return !published_->session.response_chain.empty();
  }
  if (published_->is_stored) {
    return true;
  }
  lock.unlock();
  // A running turn may have stored it.
  return started_->store->find(id()).value_or(std::nullopt).has_value();
}

bool ChatSession::discard_if_empty() {
  return is_new_ && is_saved() && reprise::discard_if_empty(*store(), id(), context_.clock());
}

Result<> ChatSession::set_closing_title(const Exchange& first_exchange, bool interrupted,
                                        std::stop_token stop) {
  if (stored_count() <= stored_before_) {
    return {};
  }
  REPRISE_ASSIGN(const Settings* const settings, context_.config().settings());
  const auto title =
      choose_closing_title(*store(), id(), provider(),
                           {.model = model(),
                            .ask = settings->title == "model",
                            .interrupted = interrupted,
                            .first_exchange = first_exchange,
                            .on_asking = [this] { context_.console().note("asking for a title"); },
                            .stop = std::move(stop)});
  if (!title) {
    context_.console().warn(cat("no title: ", title.error().message));
    return {};
  }
  if (*title) {
    if (auto stored = store()->update(id(), {.title = *title}); !stored) {
      return fail_with_context("the title is not saved", std::move(stored).error());
    }
  }
  return {};
}

std::string ChatSession::advice_after(const Result<Outcome>& outcome) {
  const bool stores_text = store() != nullptr && store()->capabilities().messages;
  if (outcome && outcome->answer.state == MessageState::complete) {
    return "";
  }
  if (outcome) {
    return stores_text && outcome->saved ? "what has arrived is saved, /go-on continues it"
                                         : "what has arrived is not saved";
  }
  constexpr std::array kRetryable = {Code::cancelled, Code::rate_limited, Code::io, Code::timeout};
  if (!stores_text || std::ranges::find(kRetryable, outcome.error().code) == kRetryable.end()) {
    return "";
  }
  const auto last = last_exchange(*store(), id());
  if (!last || last->question.empty()) {
    return "";
  }
  return last->answer.empty() ? "/go-on asks again"
         : last->incomplete   ? "/go-on continues the answer"
                              : "";
}

Result<std::string> ChatSession::run(const Slash& slash, std::stop_token stop) {
  switch (slash.verb) {
    case SlashVerb::title:
      return set_title(slash.text);
    case SlashVerb::model:
      return set_model(slash.text, std::move(stop));
    case SlashVerb::provider:
      return set_provider(slash.text, std::move(stop));
    case SlashVerb::cost:
      return cost();
    case SlashVerb::system:
      return set_system(slash.text, std::move(stop));
    case SlashVerb::fork:
      return fork(slash, std::move(stop));
    case SlashVerb::rewind:
      return rewind(slash, std::move(stop));
    case SlashVerb::todo:
      return todo(slash.text);
    case SlashVerb::session:
      return describe();
    case SlashVerb::save:
      return save(slash.text);
    case SlashVerb::help:
      return slash_help();
    case SlashVerb::begin:
    case SlashVerb::copy:
    case SlashVerb::attach:
    case SlashVerb::resume:
    case SlashVerb::retry:
    case SlashVerb::go_on:
    case SlashVerb::quit:
      break;  // turns, other sessions and the end are handled by the loop
  }
  return std::string();
}

Result<Store*> ChatSession::saved_store(std::string_view action) {
  if (started_->store == nullptr) {
    return fail(Code::unsupported, cat("this session is not saved, so it cannot ", action));
  }
  if (is_saved()) {
    return started_->store;
  }
  return started_->store->capabilities().messages
             ? fail(Code::invalid_argument,
                    cat("this session has no messages yet, so it cannot ", action))
             : fail(Code::unsupported,
                    cat("this store saves a session once it has an answer; until then it "
                        "cannot ",
                        action));
}

Result<> ChatSession::store_unsaved(std::string_view action) {
  if (auto stored = conversation().store_unsaved(); !stored) {
    return fail_with_context(cat("messages of this session are not saved, so it cannot ", action),
                             std::move(stored).error());
  }
  return {};
}

// Stores a new session.
Result<Store*> ChatSession::store_to_change(std::string_view action) {
  if (started_->store != nullptr && started_->store->capabilities().messages && !is_saved()) {
    REPRISE_TRY(conversation().store_session());
    publish();
  }
  return saved_store(action);
}

Result<std::string> ChatSession::set_title(const std::string& text) {
  if (text.empty()) {
    const std::string title = terminal_line(current_session().info.title);
    return cat(title.empty() ? "Untitled" : title, "\n");
  }
  REPRISE_ASSIGN(Store* const store, store_to_change("have a title"));
  const std::string title(trimmed(terminal_line(text)));
  REPRISE_TRY(store->update(id(), {.title = title}));
  context_.console().notice(cat("the title is '", title, "'"));
  return std::string();
}

Result<std::string> ChatSession::set_model(const std::string& text, std::stop_token stop) {
  if (text.empty()) {
    return cat(terminal_line(model()), " (", provider_name(), ")\n");
  }
  REPRISE_ASSIGN(Store* const store, store_to_change("change its model"));
  RunFlags flags = flags_;
  const std::string new_model = terminal_line(text);
  flags.model = new_model;
  flags.dev = false;
  REPRISE_TRY(rebuild_with(std::move(flags), std::move(stop)));
  SessionPatch patch{.model = new_model};
  const Session stored = current_session();
  if (!started_->is_sessions_own &&
      (stored.config.is_null() || stored.config == session_config(stored_base_url(stored)))) {
    // The model is of no use to the provider that the session used before.
    patch.provider = provider_name();
    patch.config = session_config(started_->base_url);
  }
  REPRISE_TRY(store->update(id(), patch));
  context_.console().notice(cat("now using ", new_model));
  return std::string();
}

// For this run, like --provider.
Result<std::string> ChatSession::set_provider(const std::string& text, std::stop_token stop) {
  if (text.empty()) {
    return cat(provider_name(), " (", terminal_line(model()), ")\n");
  }
  REPRISE_TRY(store_to_change("change its provider"));
  RunFlags flags = flags_;
  flags.provider = terminal_line(text);
  flags.model.reset();
  flags.dev = false;
  REPRISE_TRY(rebuild_with(std::move(flags), std::move(stop)));
  context_.console().notice(cat("now using ", model(), " of ", provider_name()));
  return std::string();
}

Result<std::string> ChatSession::set_system(const std::string& text, std::stop_token stop) {
  if (text.empty()) {
    const std::string prompt = flags_.system.value_or(current_session().system_prompt);
    return prompt.empty() ? "no system prompt\n" : cat(terminal_text(prompt), "\n");
  }
  REPRISE_ASSIGN(Store* const store, store_to_change("change its system prompt"));
  REPRISE_TRY(store->update(id(), {.system_prompt = text == "-" ? "" : text}));
  flags_.system.reset();
  flags_.mode.reset();
  REPRISE_TRY(rebuild(id(), started_->refusal.has_value(), std::move(stop)));
  context_.console().notice(text == "-" ? "the system prompt is removed"
                                        : "the system prompt is set");
  return std::string();
}

Result<std::string> ChatSession::fork(const Slash& slash, std::stop_token stop) {
  REPRISE_ASSIGN(Store* const store, saved_store("be forked"));
  REPRISE_TRY(store_unsaved("be forked"));
  ForkRequest request{.parent = id(), .at = std::nullopt, .title = std::nullopt};
  if (slash.number) {
    request.at = Seq{*slash.number};
  }
  // The original gets a title, from which the copy's title is derived.
  if (current_session().info.title.empty()) {
    REPRISE_ASSIGN(const Exchange first, first_exchange(*store, id()));
    REPRISE_TRY(store->update(id(), {.title = title_from_prompt(first.question)}));
  }
  REPRISE_ASSIGN(const SessionId child, fork_session(*store, request, context_.clock()));
  REPRISE_TRY(rebuild(child, started_->refusal.has_value(), std::move(stop)));
  is_new_ = false;
  context_.console().notice(
      cat("switched to the fork ", cli::brief_id(*store, child), "; the original is unchanged"));
  return std::string();
}

Result<std::string> ChatSession::rewind(const Slash& slash, std::stop_token stop) {
  REPRISE_ASSIGN(Store* const store, saved_store("be rewound"));
  REPRISE_TRY(store_unsaved("be rewound"));
  const std::int64_t turns = slash.number.value_or(1);
  const auto first = first_exchange(*store, id());
  REPRISE_ASSIGN(const RewindResult rewound, rewind_session(*store, id(), turns));
  REPRISE_TRY(rebuild(id(), started_->refusal.has_value(), std::move(stop)));
  // A title made from a question that is taken back goes with it.
  const auto now = first_exchange(*store, id());
  const std::string title = current_session().info.title;
  if (first && now && now->question.empty() && !title.empty() &&
      title == title_from_prompt(first->question)) {
    REPRISE_TRY(store->update(id(), {.title = ""}));
  }
  context_.console().notice(
      cat("removed ", counted(turns, "turn"), ": ", counted(rewound.messages, "message")));
  return std::string();
}

Result<std::string> ChatSession::todo(const std::string& text) {
  REPRISE_ASSIGN(const TodoRequest request, parse_todo_request(text));
  const bool lists = request.action == TodoRequest::Action::list;
  if (lists && store() != nullptr && store()->capabilities().messages && !is_saved()) {
    return todo_list({});
  }
  REPRISE_ASSIGN(Store* const store, store_to_change("hold todos"));
  Todos* const list = store->capabilities().todos;
  if (list == nullptr) {
    return fail(Code::unsupported, "this store has no todos");
  }
  if (lists) {
    REPRISE_ASSIGN(const std::vector<Todo> todos, list->todos(id()));
    return todo_list(todos);
  }
  REPRISE_ASSIGN(const std::vector<Todo> todos,
                 list->edit_todos(id(), [&request](std::vector<Todo>& todos) {
                   return change_todos(todos, request);
                 }));
  return todo_list(todos);
}

Result<std::string> ChatSession::save(const std::string& file) {
  REPRISE_ASSIGN(std::vector<Message> unsaved, conversation().unsaved_messages());
  Store* const store = is_saved() ? started_->store : nullptr;
  if (store == nullptr && unsaved.empty()) {
    return fail(Code::invalid_argument, "this session has no messages yet");
  }
  const bool stores_text = started_->store != nullptr && started_->store->capabilities().messages;
  const std::string note =
      stores_text && !unsaved.empty()
          ? cat(", with ", counted(std::ssize(unsaved), "message"), " that the store does not have")
          : "";
  const std::filesystem::path path = context_.config().path_named(file);
  REPRISE_TRY(write_transcript(store, current_session(), std::move(unsaved), path));
  context_.console().notice(cat("wrote ", path.string(), note));
  return std::string();
}

// On an error, the previous flags remain, too.
Result<> ChatSession::rebuild_with(RunFlags flags, std::stop_token stop) {
  std::swap(flags_, flags);
  auto rebuilt = rebuild(id(), false, std::move(stop));
  if (!rebuilt) {
    flags_ = std::move(flags);
  }
  return rebuilt;
}

// Starts the conversation again for session `id`. On an error, the previous conversation remains.
Result<> ChatSession::rebuild(const SessionId& id, bool keeps_refused, std::stop_token stop) {
  REPRISE_TRY(store_unsaved("be changed"));  // the previous conversation has it in memory only
  StartRequest request{.flags = flags_,
                       .session = {.newest = false, .sel = id.str(), .mode_path = {}},
                       .title = "",
                       .keeps_refused = keeps_refused,
                       .approver = approver_,
                       .stop = std::move(stop)};
  const SessionId before = this->id();
  REPRISE_ASSIGN(started_, start_session(context_, std::move(request)));
  publish();
  if (id != before) {
    mark();
  }
  stored_before_ = std::min(stored_before_, stored_count());
  return {};
}

}  // namespace reprise::cli
