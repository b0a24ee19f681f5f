#pragma once

// What the stores of a run do: counted for --stats and `reprise doctor`; slow calls are reported
// with -v.

#include <mutex>
#include <thread>

#include "cli/program/voice.h"
#include "reprise/open_store.h"

namespace reprise::cli {

// In one line, without what there was nothing of: "append 2 in 3.0 ms, longest 2.1 ms; open 1 in
// 4.1 ms; retries 1".
std::string statistics_line(const StoreCounts& counts);

// Stores may be used by several threads; all else here by the one that made it.
class StoreWatch {
 public:
  // `voice` outlives it.
  explicit StoreWatch(Voice& voice) : voice_(voice) {}

  // Has calls of a store counted, and slow ones reported. The store must not outlive it.
  void watch(StoreOptions& options, std::chrono::milliseconds slow_call);
  StoreStatistics& statistics() { return statistics_; }
  // At the end of a run: what threads beside this one found slow, and with --stats or -v a line
  // with all counts, with --json as an object.
  void finish(const Globals& globals);

 private:
  void say_slow(const SlowCall& call);

  Voice& voice_;
  StoreStatistics statistics_;
  const std::thread::id thread_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::vector<std::string> pending_;  // guarded by mutex_
};

}  // namespace reprise::cli
