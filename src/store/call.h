#pragma once

// A store call in progress, for statistics. The parts of a store add their counts to the call that
// runs on their thread, so no context is passed down to them. If nothing observes calls, the cost
// is one read of a thread-local variable.

#include <chrono>  // IWYU pragma: export
#include <string>

#include "base/lock_file.h"
#include "reprise/open_store.h"

namespace reprise::store {

// The members of StoreOptions that concern calls.
struct CallOptions {
  explicit CallOptions(const StoreOptions& options);

  StoreStatistics* statistics;
  std::chrono::microseconds slow_call;
  std::function<void(const SlowCall&)> on_slow_call;
};

// Used on the thread that created it, until finish(), or its destructor if an exception passes.
class Call {
 public:
  // `name` and `options` must outlive it.
  Call(const CallOptions& options, std::string_view name);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Wraps `sink` so that its own time is not counted as the store's.
  template <class Sink>
  Sink without_time_of(const Sink& sink) {
    if (!is_watched_) {
      return sink;
    }
    return [this, &sink]<class Piece>(Piece&& piece) {
      const auto start = std::chrono::steady_clock::now();
      const Flow flow = sink(std::forward<Piece>(piece));
      started_at_ += std::chrono::steady_clock::now() - start;
      return flow;
    };
  }

  // Counts the call, and reports it if it was slow. Exceptions of on_slow_call propagate to the
  // caller.
  void finish();

  using Field = Timing StoreCounts::*;
  // These act on the innermost observed call of this thread, if there is one.
  static bool is_watched();
  static void add(Field field, std::string_view part, std::chrono::steady_clock::duration time);
  static void count(std::int64_t StoreCounts::* field);

 private:
  std::chrono::microseconds count_once();

  const CallOptions& options_;
  const std::string_view name_;
  bool is_watched_;
  std::chrono::steady_clock::time_point started_at_ = {};
  Call* outer_ = nullptr;
  std::string part_;  // the one that took longest
  std::chrono::microseconds part_time_{0};
};

// Runs `work`, and adds its time if a call is observed.
template <class Work>
auto timed(Call::Field field, std::string_view part, const Work& work) -> decltype(work()) {
  if (!Call::is_watched()) {
    return work();
  }
  const auto start = std::chrono::steady_clock::now();
  auto done = work();
  Call::add(field, part, std::chrono::steady_clock::now() - start);
  return done;
}

// Like LockFile::acquire(), and counts the wait.
Result<LockFile::Hold> take_lock(LockFile& file, LockFile::Deadline deadline);

}  // namespace reprise::store
