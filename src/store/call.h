#pragma once

// A call of a store while it runs, for statistics. What the parts of a store count goes to the call
// that runs on their thread, so that nothing has to be handed down to them; where nobody looks,
// that costs a look at a variable of the thread.

#include <string>

#include "base/lock_file.h"
#include "reprise/open_store.h"

namespace reprise::store {

// What of StoreOptions concerns calls.
struct CallOptions {
  explicit CallOptions(const StoreOptions& options);

  StoreStatistics* statistics;
  std::chrono::microseconds slow_call;
  std::function<void(const SlowCall&)> on_slow_call;
};

// On the thread that made it, until it is finished or, when an exception passes, destroyed.
class Call {
 public:
  // `name` and `options` outlive it.
  Call(const CallOptions& options, std::string_view name);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // `sink`, whose own time is not the store's.
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

  // Counts it, and reports it when it was slow; what on_slow_call throws goes on to the caller.
  void finish();

  using Field = Timing StoreCounts::*;
  // For the innermost call on this thread that somebody looks at; nothing when there is none.
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
  std::string part_;  // the longest
  std::chrono::microseconds part_time_{0};
};

// `work`, whose time is added when a call is watched.
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

// As LockFile::acquire().
Result<LockFile::Hold> take_lock(LockFile& file, LockFile::Deadline deadline);

}  // namespace reprise::store
