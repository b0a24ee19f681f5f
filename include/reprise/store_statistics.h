#pragma once

// What stores have done and how long it took, for whoever runs them (StoreOptions::statistics).

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
  // Of the store's functions, by name ("append"), and of open_store() ("open"). What a sink does
  // with the messages it is handed is not counted.
  std::map<std::string, Timing, std::less<>> calls;
  Timing locks;             // of a store of files, taken for writing: how long that took
  Timing connection_waits;  // for other threads of this process, which used all connections_max
  Timing connections;       // to a server, made or tried
  Timing round_trips;       // to a server: how long its answers were waited for
  // A transaction that was done again, for whatever reason.
  std::int64_t retries = 0;
  // A change whose commit the server did not answer: it is looked up before it is done again.
  std::int64_t unknown_outcomes = 0;
  // Turns of which something went to the outbox (ConversationOptions::statistics).
  std::int64_t spilled_turns = 0;

  friend bool operator==(const StoreCounts&, const StoreCounts&) = default;
};

// A call of a store that took at least StoreOptions::slow_call.
struct SlowCall {
  std::string_view call;  // "append"
  std::chrono::microseconds time{0};
  // What took the longest part of it: a round trip by its first statement's verb and table ("UPDATE
  // reprise_heads"), "lock", "connect" or "connection wait"; "" when that is not known.
  std::string_view part;
  std::chrono::microseconds part_time{0};
};

// Owned by the caller, who may hand the same one to several stores. Thread-safe.
class StoreStatistics {
 public:
  StoreCounts counts() const;
  // Changes the counts, in one step.
  void record(const std::function<void(StoreCounts& counts)>& change);

 private:
  mutable std::mutex mutex_;
  StoreCounts counts_;  // guarded by mutex_
};

// A JSON object; times are in microseconds.
std::string store_counts_to_json(const StoreCounts& counts);

}  // namespace reprise
