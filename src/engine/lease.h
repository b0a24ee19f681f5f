#pragma once

// Leases on running answers: other processes' leases, which are observed until they expire, and our
// own, which are renewed while we answer. reprise/session.h evaluates leases; the store alone
// decides who owns an answer, since it ends each one once.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "reprise/capabilities.h"
#include "reprise/conversation.h"
#include "reprise/environment.h"

namespace reprise {

// Observes another process's answer repeatedly until it is known whether that process is alive.
class OwnerWatch {
 public:
  // Like state_of(), except that a silent owner is alive if its answer has changed since the last
  // call, and gone if nothing has changed for grace_period_for(), measured by this process's clock.
  OwnerState observe(const Partial& running);

 private:
  std::optional<Partial> observed_;  // while it is silent
  std::chrono::steady_clock::time_point since_;
  bool has_changed_ = false;
};

// Like get_snapshot(), but observes an answer of a silent process until it is known whether that
// process is alive. cancelled when `stop` is requested.
Result<SessionSnapshot> await_snapshot(Source& source, const SessionId& id,
                                       const std::stop_token& stop);

// Whether the last message that is not injected leaves its turn without a whole answer.
Result<bool> ends_incomplete(Source& source, const SessionId& id);

// Turns the answer of a dead process into an incomplete message, once, even if several processes
// try.
Result<> settle(Store& store, const SessionId& id, Partial running, Clock& clock);

// Between two attempts: short at first.
class PollPause {
 public:
  void wait();

 private:
  std::chrono::milliseconds length_{2};
};

// Names the process that is answering in the session.
Error busy_error(const SessionId& id, const Owner& owner);

struct AnswerWait {
  std::chrono::steady_clock::time_point deadline;
  std::stop_token stop;
  Clock& clock;
  // Answers that are not waited for; empty: none.
  std::function<bool(const OperationId& answer)> is_ours = {};
};
// Waits until no other answer is running in the session; settles a dead process's. busy after the
// deadline, which is exceeded only to find out whether a silent process is gone; cancelled when
// stopped. Other errors of the store are left to the append that follows.
Result<> wait_until_free(Store& store, const SessionId& id, const AnswerWait& wait);

// Renews the lease of this process's answer every tenth of its length, from its own thread, until
// the answer ends or another process has settled it.
class LeaseRenewer {
 public:
  // `store` must support running answers, and outlive this.
  LeaseRenewer(Store& store, SessionId session, std::chrono::milliseconds length);
  ~LeaseRenewer();
  LeaseRenewer(const LeaseRenewer&) = delete;
  LeaseRenewer& operator=(const LeaseRenewer&) = delete;

  // Prevents renewals while an answer is ended or the next one is started.
  using Hold = std::unique_lock<std::mutex>;
  Hold hold() { return Hold(mutex_); }
  // Sets the running answer, whose lease has just been written; nullopt: none.
  void set(const Hold& hold, std::optional<OperationId> answer);
  // Call when the store reports that this answer is not running. Returns whether another process
  // has settled it: then it is lost. Otherwise another program has dropped it, and nobody will
  // settle it. The store's error if that cannot be determined now.
  Result<bool> confirm_settled(const Hold& hold, const OperationId& answer);

  // Call before writing or continuing: renews a lease that may have expired, because this process
  // was suspended or the store unreachable.
  bool check_lost();
  // The store rejected a write for this answer.
  void on_refused();
  // Stop is requested when the answer is lost.
  std::stop_token lost() const { return lost_.get_token(); }
  // `consequence`: what happens to unstored messages.
  Error error(std::string_view consequence) const;

 private:
  void run(const std::stop_token& stop);
  void renew(const Hold& hold);
  void record_attempt();

  Store& store_;
  const SessionId session_;
  const std::chrono::milliseconds length_;
  std::stop_source lost_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::optional<OperationId> answer_;   // guarded by mutex_, like dropped_
  std::optional<OperationId> dropped_;  // the answer that is known not to be settled
  // The time of the last renewal, successful or not.
  std::atomic<std::chrono::steady_clock::time_point> last_attempt_;
  std::jthread thread_;
};

}  // namespace reprise
