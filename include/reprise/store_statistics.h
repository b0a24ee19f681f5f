#pragma once

// Counters and timings of stores, for their operators (StoreOptions::statistics).

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace reprise {

struct Timing {
  std::int64_t count = 0;
  std::chrono::microseconds total{0};
  std::chrono::microseconds longest{0};

  void add(std::chrono::microseconds time);
  friend bool operator==(const Timing&, const Timing&) = default;
};

struct StoreCounts {
  // Of the store's functions, by name ("append"), and of open_store() ("open"). Time spent in sinks
  // is not counted.
  std::map<std::string, Timing, std::less<>> calls;
  Timing locks;             // for writing, in stores of files: time to acquire them
  Timing connection_waits;  // for other threads of this process, when connections_max are in use
  Timing connections;       // to a server, successful or not
  Timing round_trips;       // to a server: time until its answer
  // Transactions that were repeated, for whatever reason.
  std::int64_t retries = 0;
  // Commits without a server's answer: the outcome is looked up before a retry.
  std::int64_t unknown_outcomes = 0;
  // Turns with messages in the outbox (ConversationOptions::statistics).
  std::int64_t spilled_turns = 0;

  friend bool operator==(const StoreCounts&, const StoreCounts&) = default;
};

// A call to a store that took at least StoreOptions::slow_call.
struct SlowCall {
  std::string_view call;  // "append"
  std::chrono::microseconds time{0};
  // Its longest part: a round trip by its first statement's verb and table ("UPDATE
  // reprise_heads"), "lock", "connect" or "connection wait"; "" when unknown.
  std::string_view part;
  std::chrono::microseconds part_time{0};
};

// Owned by the caller, may be shared by several stores. Thread-safe.
class StoreStatistics {
 public:
  StoreCounts counts() const;
  // Changes the counts atomically.
  void record(const std::function<void(StoreCounts& counts)>& change);

 private:
  mutable std::mutex mutex_;
  StoreCounts counts_;  // guarded by mutex_
};

// A JSON object; times are in microseconds.
std::string store_counts_to_json(const StoreCounts& counts);

}  // namespace reprise
