#pragma once

// Leases on running answers: of others, which are given up when nothing is heard of them, and our
// own, which is renewed while we answer. What a lease says is judged in reprise/session.h; who
// answers is decided by the store alone, which ends an answer once.

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "reprise/capabilities.h"
#include "reprise/conversation.h"
#include "reprise/environment.h"

namespace reprise {

// Looks at another process's answer again and again, until it is known whether that still runs.
class OwnerWatch {
 public:
  // What state_of() says, but of one that is silent: alive when it has changed since it was looked
  // at, and gone when nothing of it has changed for patience_for(), by the clock of this process
  // alone.
  OwnerState observe(const Partial& running);

 private:
  std::optional<Partial> seen_;  // while it is silent
  std::chrono::steady_clock::time_point since_;
  bool has_changed_ = false;
};

// get_now(), but that an answer whose process is silent is watched until it is known whether that
// still runs. cancelled when that is stopped.
Result<SessionNow> watch_now(Source& source, const SessionId& id, const std::stop_token& stop);

// The answer of a process that is gone becomes an incomplete message, once, however many try it.
Result<> settle(Store& store, const SessionId& id, Partial running, Clock& clock);

// Renews the lease of an answer of this process, every tenth of its length, from a thread of its
// own, until it ends or another process has settled it.
class LeaseKeeper {
 public:
  // `store` must offer running answers, and outlive this.
  LeaseKeeper(Store& store, SessionId session, std::chrono::milliseconds length);
  ~LeaseKeeper();
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  // While it is held nothing is renewed: for who ends an answer or begins the next one.
  using Hold = std::unique_lock<std::mutex>;
  Hold hold() { return Hold(mutex_); }
  // The answer that runs from now on, its lease just written; nullopt: none.
  void set(const Hold& hold, std::optional<OperationId> answer);
  // The store says that this answer does not run: whether another process has settled it. It is
  // lost then. Otherwise another program has dropped it, and nobody is going to settle it.
  bool is_settled(const Hold& hold, const OperationId& answer);

  // For who is about to write, or to go on: a lease that may have run out, as this process was
  // stopped or the store away, is renewed first.
  bool is_lost();
  // The store refused what belongs to this answer.
  void refused();
  // Stopped when the answer is lost.
  std::stop_token lost() const { return lost_.get_token(); }
  // `fate`: what becomes of what it had not stored.
  Error error(std::string_view consequence) const;

 private:
  void run(const std::stop_token& stop);
  void renew(const Hold& hold);
  void has_tried();

  Store& store_;
  const SessionId session_;
  const std::chrono::milliseconds length_;
  std::stop_source lost_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::optional<OperationId> answer_;   // guarded by mutex_, like the next one
  std::optional<OperationId> dropped_;  // the answer that is known not to be settled
  // When it was renewed, or that was tried in vain.
  std::atomic<std::chrono::steady_clock::time_point> tried_;
  std::jthread thread_;
};

}  // namespace reprise
