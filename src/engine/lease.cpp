#include "engine/lease.h"

#include <algorithm>
#include <stop_token>
#include <thread>

#include "base/assert.h"
#include "base/text.h"
#include "engine/message_of.h"
#include "engine/origin.h"
#include "model/known_time.h"
#include "reprise/capabilities.h"
#include "reprise/conversation.h"
#include "reprise/store.h"

namespace reprise {
namespace {

constexpr std::chrono::milliseconds kOwnerPollInterval{50};
constexpr std::chrono::milliseconds kLongestPause{20};
constexpr int kRenewalsInLength = 10;
constexpr int kReadsMax = 8;  // reads of a session that is being written to

// A name derived from the answer, so that concurrent settlers apply it once.
std::optional<OperationId> settle_operation(const OperationId& answer) {
  auto name = OperationId::parse(cat(answer.str(), ".settled"));
  return name ? std::optional(*std::move(name)) : std::nullopt;
}

// Deterministic, so that all observers of an unfinished answer make the same message: its time is
// that of the last renewal.
Message answer_of(Partial running) {
  const Time time = std::max(running.started_at, running.owner.lease.renewed_at);
  Message answer = message_of(role::kAssistant, std::move(running.blocks), time);
  answer.provider = std::move(running.provider);
  answer.model = std::move(running.model);
  answer.state = MessageState::incomplete;
  return answer;
}

bool is_same(const Partial& a, const Partial& b) {
  return a.answer == b.answer && a.owner == b.owner && a.blocks == b.blocks;
}

}  // namespace

OwnerState OwnerWatch::observe(const Partial& running) {
  const OwnerState state = state_of(running.owner);
  if (state != OwnerState::silent) {
    observed_.reset();
    has_changed_ = false;
    return state;
  }
  const auto now = std::chrono::steady_clock::now();
  if (!observed_ || !is_same(*observed_, running)) {
    has_changed_ = observed_ && observed_->answer == running.answer;
    observed_ = running;
    since_ = now;
  }
  if (now - since_ < grace_period_for(running.owner.lease)) {
    return has_changed_ ? OwnerState::alive : OwnerState::silent;
  }
  return OwnerState::gone;
}

Result<> settle(Store& store, const SessionId& id, Partial running, Clock& clock) {
  const std::optional<OperationId> operation = settle_operation(running.answer);
  const OperationId ended = running.answer;
  std::vector<Message> messages;
  if (!running.blocks.empty()) {
    messages.push_back(answer_of(std::move(running)));
    Time& time = messages.back().created_at;
    time = is_known(time) ? time : clock.now();
  }
  const auto appended =
      store.append(id, std::move(messages), {.operation = operation, .end_partial = ended});
  if (!appended && appended.error().code != Code::conflict) {  // conflict: settled by another
    return std::unexpected(appended.error());
  }
  return {};
}

void PollPause::wait() {
  std::this_thread::sleep_for(length_);
  length_ = std::min(length_ * 2, kLongestPause);
}

Error busy_error(const SessionId& id, const Owner& owner) {
  return {Code::busy, cat("session ", short_id(id), " has an answer running in process ", owner.pid,
                          " on ", owner.host, "; try again when it has ended")};
}

Result<> wait_until_free(Store& store, const SessionId& id, const AnswerWait& wait) {
  using std::chrono::steady_clock;
  Partials* const partials = store.capabilities().partials;
  if (partials == nullptr) {
    return {};
  }
  OwnerWatch watch;
  for (PollPause pause;; pause.wait()) {
    const std::optional<Partial> running = partials->find_partial(id).value_or(std::nullopt);
    if (!running || (wait.is_ours && wait.is_ours(running->answer))) {
      return {};
    }
    const OwnerState state = watch.observe(*running);
    if (state == OwnerState::gone) {
      auto settled = settle(store, id, *running, wait.clock);
      if (!settled) {
        // A suspended process may hold a lock forever.
        const bool is_over =
            settled.error().code == Code::busy && steady_clock::now() >= wait.deadline;
        return is_over ? settled : Result<>();
      }
      continue;
    }
    if (wait.stop.stop_requested()) {
      return fail(Code::cancelled, "stopped while waiting for another answer to end");
    }
    if (state == OwnerState::alive && steady_clock::now() >= wait.deadline) {
      return std::unexpected(busy_error(id, running->owner));
    }
  }
}

Result<bool> recover_interrupted(Store& store, const SessionId& id, Clock& clock,
                                 const std::stop_token& stop) {
  Partials* const partials = store.capabilities().partials;
  if (partials == nullptr) {
    return false;
  }
  for (OwnerWatch watch;;) {
    REPRISE_ASSIGN(auto running, partials->find_partial(id));
    const OwnerState state = running ? watch.observe(*running) : OwnerState::alive;
    if (state == OwnerState::alive) {
      return false;
    }
    if (state == OwnerState::gone) {
      REPRISE_TRY(settle(store, id, *std::move(running), clock));
      return true;
    }
    if (stop.stop_requested()) {
      return fail(Code::cancelled, "stopped while waiting for an answer that may still be running");
    }
    std::this_thread::sleep_for(kOwnerPollInterval);
  }
}

Result<SessionSnapshot> get_snapshot(Source& source, const SessionId& id) {
  PartialReader* const partials = source.capabilities().partial_reader;
  REPRISE_ASSIGN(Session session, get(source, id));
  SessionSnapshot snapshot{.session = std::move(session)};
  for (int reads = 0; partials != nullptr && snapshot.session.info.answering; ++reads) {
    REPRISE_ASSIGN(auto running, partials->find_partial(id));
    const Seq head = snapshot.session.info.head;
    REPRISE_ASSIGN(snapshot.session, get(source, id));
    const bool is_consistent = snapshot.session.info.head == head;
    if (running && (is_consistent || reads == kReadsMax)) {
      const OwnerState owner = state_of(running->owner);
      snapshot.answer = {answer_of(*std::move(running)), owner};
      snapshot.answer->message.seq = snapshot.session.info.head;
      return snapshot;
    }
    if (reads == kReadsMax) {
      break;
    }
  }
  if (source.capabilities().messages && !snapshot.session.info.answering &&
      snapshot.session.info.head.value > 0) {
    REPRISE_ASSIGN(const bool is_incomplete, ends_incomplete(source, id));
    snapshot.session.info.incomplete = is_incomplete && !has_ended_elsewhere(snapshot.session);
  }
  return snapshot;
}

Result<bool> ends_incomplete(Source& source, const SessionId& id) {
  bool is_incomplete = false;
  REPRISE_TRY(source.read(id, {.newest_first = true}, [&](const Message& message) {
    if (is_injected(message)) {
      return Flow::proceed;
    }
    is_incomplete = is_incomplete_after(message);
    return Flow::stop;
  }));
  return is_incomplete;
}

Result<SessionSnapshot> await_snapshot(Source& source, const SessionId& id,
                                       const std::stop_token& stop) {
  for (OwnerWatch watch;;) {
    REPRISE_ASSIGN(SessionSnapshot snapshot, get_snapshot(source, id));
    if (!snapshot.answer || snapshot.answer->owner != OwnerState::silent) {
      return snapshot;
    }
    REPRISE_ASSIGN(const auto running, source.capabilities().partial_reader->find_partial(id));
    snapshot.answer->owner = running ? watch.observe(*running) : OwnerState::silent;
    if (snapshot.answer->owner != OwnerState::silent) {
      return snapshot;
    }
    if (stop.stop_requested()) {
      return fail(Code::cancelled, "stopped while waiting for an answer that may still be running");
    }
    std::this_thread::sleep_for(kOwnerPollInterval);
  }
}

LeaseRenewer::LeaseRenewer(Store& store, SessionId session, std::chrono::milliseconds length)
    : store_(store), session_(std::move(session)), length_(length) {}

LeaseRenewer::~LeaseRenewer() = default;

void LeaseRenewer::record_attempt() {
  last_attempt_ = std::chrono::steady_clock::now();
}

void LeaseRenewer::set(const Hold& hold, std::optional<OperationId> answer) {
  REPRISE_ASSERT(hold.owns_lock());
  answer_ = std::move(answer);
  record_attempt();
  if (answer_ && !thread_.joinable()) {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
  wake_.notify_one();
}

void LeaseRenewer::run(const std::stop_token& stop) {
  Hold hold(mutex_);
  while (wake_.wait(hold, stop, [this] { return answer_.has_value(); })) {
    wake_.wait_for(hold, stop, length_ / kRenewalsInLength, [] { return false; });
    if (stop.stop_requested()) {
      return;
    }
    renew(hold);
  }
}

// Errors other than conflict are temporary, as of an unreachable or full store: the next renewal
// may succeed.
void LeaseRenewer::renew(const Hold& hold) {
  REPRISE_ASSERT(hold.owns_lock());
  if (!answer_ || answer_ == dropped_ || lost_.stop_requested()) {
    return;
  }
  const auto renewed =
      store_.capabilities().partials->renew_lease(session_, *answer_, new_lease(length_));
  record_attempt();
  if (!renewed && renewed.error().code == Code::conflict) {
    (void)confirm_settled(hold, *answer_);
  }
}

Result<bool> LeaseRenewer::confirm_settled(const Hold& hold, const OperationId& answer) {
  REPRISE_ASSERT(hold.owns_lock());
  if (lost_.stop_requested()) {
    return true;
  }
  if (dropped_ == answer) {
    return false;
  }
  REPRISE_ASSIGN(const AppendResult settled,
                 store_.append(session_, {}, {.operation = settle_operation(answer)}));
  if (settled.repeated) {
    lost_.request_stop();
  } else {
    dropped_ = answer;
  }
  return settled.repeated;
}

bool LeaseRenewer::check_lost() {
  if (!lost_.stop_requested() &&
      std::chrono::steady_clock::now() - last_attempt_.load() >= length_) {
    const Hold hold(mutex_);
    renew(hold);
  }
  return lost_.stop_requested();
}

void LeaseRenewer::on_refused() {
  const Hold hold(mutex_);
  if (answer_) {
    (void)confirm_settled(hold, *answer_);
  }
}

Error LeaseRenewer::error(std::string_view consequence) const {
  return {Code::conflict, cat("another process has taken over session ", session_.str(),
                              ", because this one was unresponsive; ", consequence, "; ask again")};
}

}  // namespace reprise
