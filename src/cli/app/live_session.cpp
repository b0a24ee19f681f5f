#include "cli/app/live_session.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "cli/app/event_queue.h"
#include "cli/output/tool_text.h"
#include "cli/repl/chat_session.h"
#include "cli/session/tool_consent.h"
#include "cli/settings/program_config.h"

namespace reprise::cli::app {
namespace {

constexpr std::string_view kTodoTool = "todo_write";

// Converts a turn's reports to events.
class EventObserver final : public TurnObserver {
 public:
  // `todos` reads the session's list.
  EventObserver(TabId tab, EventQueue& events, ChatSession& session,
                std::function<std::vector<Todo>()> todos)
      : tab_(tab), events_(events), session_(session), todos_(std::move(todos)) {}

  void on_text(std::string_view text) override {
    events_.post(TextReceived{tab_, std::string(text)});
  }
  void on_thinking(std::string_view text) override {
    events_.post(ThinkingReceived{tab_, std::string(text)});
  }
  void on_tool_call(const ToolUseBlock& call) override {
    if (call.name == kTodoTool) {
      todo_calls_.insert(call.id);
    }
    events_.post(ToolCalled{tab_, call});
  }
  void on_tool_result(const ToolResultBlock& result) override {
    events_.post(ToolAnswered{tab_, result});
    if (todo_calls_.contains(result.tool_use_id)) {
      events_.post(TodosChanged{tab_, todos_()});
    }
  }
  void on_message(const Message& stored) override {
    first_ = first_.value_or(stored.seq);
    session_.publish();
    if (stored.role != role::kAssistant) {
      return;
    }
    const bool calls = std::ranges::any_of(stored.blocks, [](const Block& block) {
      return std::holds_alternative<ToolUseBlock>(block);
    });
    events_.post(AnswerStored{.tab = tab_,
                              .model = stored.model,
                              .usage = stored.usage,
                              .at = stored.created_at,
                              .calls_tools = calls,
                              .incomplete = stored.state == MessageState::incomplete});
  }
  void on_warning(std::string_view text) override {
    events_.post(Announcement{Announcement::Kind::warning, tab_, std::string(text)});
  }

  // The position of the first answer.
  std::optional<Seq> first() const { return first_; }

 private:
  TabId tab_;
  EventQueue& events_;
  ChatSession& session_;
  std::function<std::vector<Todo>()> todos_;
  std::set<std::string> todo_calls_;
  std::optional<Seq> first_;
};

}  // namespace

Result<HistoryPart> read_history(ChatSession& session, Seq before, std::int64_t count) {
  HistoryPart part;
  if (!session.is_saved()) {
    return part;
  }
  const Seq from{std::max<std::int64_t>(0, before.value - count)};
  part.oldest = from;
  EntryMaker maker(session.author());
  const auto sink = [&maker](const Message& message) {
    maker.add(message);
    return Flow::proceed;
  };
  REPRISE_ASSIGN(const ReadReport report,
                 session.store()->read(session.id(), {.from = from, .to = before}, sink));
  part.entries = maker.take();
  part.last_input = maker.last_input();
  part.counted_requests = maker.counted_requests();
  for (const Damage& damage : report.damage) {
    part.entries.push_back({.kind = Entry::Kind::warning,
                            .text = cat("cannot read ", damage.where, ": ", damage.reason)});
  }
  return part;
}

LiveSession::LiveSession(const Parts& parts) : parts_(parts), consents_(parts.context) {}

LiveSession::~LiveSession() {
  stop();
  wait();
}

Approver LiveSession::approver() {
  return [this](const ToolUseBlock& call) {
    const auto answer = consents_.approve(call, [this](const ToolUseBlock& use) {
      std::unique_lock lock(mutex_);
      const std::stop_token stop = stop_.get_token();
      lock.unlock();
      return parts_.consents.ask(
          parts_.tab,
          cat("Run ", use.name, " ", tool_input_line(use.input.text(), kInputAsked), "?"), stop);
    });
    if (!answer.remembered) {
      parts_.events.post(
          Announcement{Announcement::Kind::warning, parts_.tab,
                       cat("cannot store this permission: ", answer.remembered.error().message)});
    }
    return answer.approval;
  };
}

void LiveSession::begin(std::unique_ptr<Context> own_context, std::unique_ptr<ChatSession> session,
                        TabMetadata constant_metadata) {
  own_context_ = std::move(own_context);
  session_ = std::move(session);
  constant_ = std::move(constant_metadata);
  consents_.begin(constant_.folder);
  const Store* const store = session_->store();
  stores_partials_ = store != nullptr && store->capabilities().partials != nullptr;
}

std::string_view removed_to(SessionState state) {
  return state == SessionState::trashed    ? "in the trash"
         : state == SessionState::archived ? "archived"
                                           : "";
}

void LiveSession::notice_removal(const SessionInfo& info) {
  const std::string_view place = removed_to(info.state);
  if (!removed_.exchange(!place.empty()) && !place.empty()) {
    parts_.events.post(Announcement{Announcement::Kind::warning, parts_.tab,
                                    cat("another program has moved this session, which is now ",
                                        place, "; `", session_->context().config().program(),
                                        " restore ", session_->brief_id(), "` brings it back")});
  }
}

TabMetadata LiveSession::metadata() {
  return metadata_of(session_->current_session());
}

TabMetadata LiveSession::metadata_of(const Session& current) {
  notice_removal(current.info);
  {
    const std::lock_guard lock(mutex_);
    read_ = {current.info.head, current.info.updated_at};
  }
  TabMetadata metadata = constant_;
  metadata.id = current.info.id.str();
  metadata.title = current.info.title;
  metadata.mode = current.info.mode;
  metadata.provider = session_->provider_name();
  metadata.model = session_->model();
  metadata.refusal = session_->refusal();
  metadata.saved = session_->store() != nullptr && last_saved_;
  metadata.messages = current.info.head.value;
  metadata.usage = current.usage;
  metadata.todos = todos();
  return metadata;
}

void LiveSession::mark_shown() {
  const std::lock_guard lock(mutex_);
  shown_ = read_;
}

bool LiveSession::has_other_messages() {
  Store* const store = session_->store();
  const auto found = store == nullptr || !store->capabilities().messages
                         ? std::optional<Session>()
                         : store->find(session_->id()).value_or(std::nullopt);
  const std::lock_guard lock(mutex_);
  return found && shown_ != std::pair(found->info.head, found->info.updated_at);
}

std::vector<Todo> LiveSession::todos() {
  Store* const store = session_->store();
  Todos* const list = store == nullptr ? nullptr : store->capabilities().todos;
  return list == nullptr ? std::vector<Todo>{}
                         : list->todos(session_->id()).value_or(std::vector<Todo>{});
}

void LiveSession::run(Turn turn, std::string question) {
  wait();
  has_turns_ = true;
  running_ = true;
  std::stop_token stop;
  {
    const std::lock_guard lock(mutex_);
    stop_ = std::stop_source();
    stop = stop_.get_token();
  }
  turn_ = std::thread([this, turn = std::move(turn), question = std::move(question), stop] {
    EventObserver observer(parts_.tab, parts_.events, *session_, [this] { return todos(); });
    const Result<Outcome> outcome = turn(session_->conversation(), observer, stop);
    session_->publish();
    if (outcome && first_turn_.answer.empty() && !question.empty()) {
      first_turn_ = {.question = question, .answer = plain_text(outcome->answer)};
    }
    const auto left = session_->leave_gone_folder(outcome);
    report(outcome, observer.first(), stop.stop_requested());
    if (!left || !left->empty()) {
      parts_.events.post(
          Announcement{left ? Announcement::Kind::notice : Announcement::Kind::warning, parts_.tab,
                       left ? *left : left.error().message});
    }
  });
}

// Another window may have closed the session, which goes on here.
void LiveSession::reopen(const SessionInfo& info) {
  if (Store* const store = session_->store();
      store != nullptr && info.state == SessionState::closed) {
    const auto reopened =
        store->update(info.id, {.state = SessionState::active, .closed_at = std::optional<Time>()});
    if (!reopened) {
      parts_.events.post(
          Announcement{Announcement::Kind::warning, parts_.tab,
                       cat("the session is still marked as closed: ", reopened.error().message)});
    }
  }
}

void LiveSession::report(const Result<Outcome>& outcome, std::optional<Seq> first, bool stopped) {
  const Session current = session_->current_session();
  if (outcome) {
    last_saved_ = outcome->saved;
    reopen(current.info);
  }
  TurnEnded ended{.tab = parts_.tab, .metadata = metadata_of(current), .stopped = stopped};
  {
    // The first answer follows the question, unless there are another program's messages before
    // them, which are not shown yet.
    const std::lock_guard lock(mutex_);
    shown_ = !first || *first <= shown_.first.next() ? read_ : shown_;
  }
  if (!outcome) {
    ended.failure = outcome.error().message;
    ended.arrived = false;
  } else if (const auto& error = outcome->error; error && !stopped) {
    ended.failure = error->message;
  }
  if (stopped || !ended.failure.empty()) {
    ended.advice = session_->advice_after(outcome);
  }
  if (outcome && !outcome->saved) {
    saved_ = false;
    ended.saved = false;
  }
  running_ = false;
  parts_.events.post(std::move(ended));
}

void LiveSession::stop() {
  std::unique_lock lock(mutex_);
  const std::stop_source source = stop_;
  lock.unlock();
  (void)source.request_stop();  // unlocked: runs the stop callbacks
}

void LiveSession::wait() {
  if (turn_.joinable()) {
    turn_.join();
  }
}

}  // namespace reprise::cli::app
