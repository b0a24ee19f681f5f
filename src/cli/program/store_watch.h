#pragma once

// Measures the calls of the stores, for --stats and `reprise doctor`; reports slow calls with -v.

#include <mutex>
#include <thread>

#include "cli/process/console.h"
#include "reprise/open_store.h"

namespace reprise::cli {

// One line without zero counts: "append 2 in 3.0 ms, longest 2.1 ms; open 1 in 4.1 ms; retries 1".
std::string statistics_line(const StoreCounts& counts);

// The stores may be used by any thread, this object only by the one that created it.
class StoreWatch {
 public:
  // `console` must outlive it.
  explicit StoreWatch(Console& console) : console_(console) {}

  // Counts the calls of a store and reports slow ones. Must outlive the store.
  void watch(StoreOptions& options, std::chrono::milliseconds slow_call);
  StoreStatistics& statistics() { return statistics_; }
  // Reports other threads' slow calls and, with --stats or -v, all counts: as a line, or with
  // --json as an object.
  void finish(const Globals& globals);

 private:
  void report_slow(const SlowCall& call);

  Console& console_;
  StoreStatistics statistics_;
  const std::thread::id thread_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::vector<std::string> pending_;  // guarded by mutex_
};

}  // namespace reprise::cli
