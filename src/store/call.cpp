#include "store/call.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "base/json_write.h"
#include "base/lock_file.h"
#include "reprise/open_store.h"
#include "reprise/store_statistics.h"

namespace reprise::store {
namespace {

// The innermost observed call of this thread.
thread_local Call* innermost = nullptr;

}  // namespace

CallOptions::CallOptions(const StoreOptions& options)
    : statistics(options.statistics),
      slow_call(options.slow_call),
      on_slow_call(options.on_slow_call) {}

Call::Call(const CallOptions& options, std::string_view name)
    : options_(options),
      name_(name),
      is_watched_(options.statistics != nullptr || options.on_slow_call) {
  if (is_watched_) {
    started_at_ = std::chrono::steady_clock::now();
    outer_ = std::exchange(innermost, this);
  }
}

Call::~Call() {
  if (is_watched_) {
    count_once();
  }
}

std::chrono::microseconds Call::count_once() {
  is_watched_ = false;
  innermost = outer_;
  const auto time = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - started_at_);
  if (options_.statistics != nullptr) {
    options_.statistics->record(
        [&](StoreCounts& counts) { counts.calls[std::string(name_)].add(time); });
  }
  return time;
}

void Call::finish() {
  if (!is_watched_) {
    return;
  }
  const std::chrono::microseconds time = count_once();
  if (options_.on_slow_call && time >= options_.slow_call) {
    options_.on_slow_call({.call = name_, .time = time, .part = part_, .part_time = part_time_});
  }
}

bool Call::is_watched() {
  return innermost != nullptr;
}

void Call::add(Field field, std::string_view part, std::chrono::steady_clock::duration time) {
  if (innermost == nullptr) {
    return;
  }
  const auto rounded = std::chrono::duration_cast<std::chrono::microseconds>(time);
  if (rounded >= innermost->part_time_) {
    innermost->part_ = part;
    innermost->part_time_ = rounded;
  }
  if (innermost->options_.statistics != nullptr) {
    innermost->options_.statistics->record(
        [&](StoreCounts& counts) { (counts.*field).add(rounded); });
  }
}

void Call::count(std::int64_t StoreCounts::* field) {
  if (innermost != nullptr && innermost->options_.statistics != nullptr) {
    innermost->options_.statistics->record([&](StoreCounts& counts) { ++(counts.*field); });
  }
}

Result<LockFile::Hold> take_lock(LockFile& file, LockFile::Deadline deadline) {
  return timed(&StoreCounts::locks, "lock", [&] { return file.acquire(deadline); });
}

}  // namespace reprise::store

namespace reprise {
namespace {

void write(json::ObjectWriter& object, std::string& out, std::string_view name,
           const Timing& timing) {
  object.key(name);
  json::ObjectWriter(out)
      .field("count", timing.count)
      .field("total_us", std::int64_t{timing.total.count()})
      .field("longest_us", std::int64_t{timing.longest.count()})
      .close();
}

}  // namespace

void Timing::add(std::chrono::microseconds time) {
  ++count;
  total += time;
  longest = std::max(longest, time);
}

StoreCounts StoreStatistics::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void StoreStatistics::record(const std::function<void(StoreCounts& counts)>& change) {
  const std::lock_guard lock(mutex_);
  change(counts_);
}

std::string store_counts_to_json(const StoreCounts& counts) {
  std::string out;
  json::ObjectWriter object(out);
  object.key("calls");
  json::ObjectWriter calls(out);
  for (const auto& [name, timing] : counts.calls) {
    write(calls, out, name, timing);
  }
  calls.close();
  write(object, out, "locks", counts.locks);
  write(object, out, "connection_waits", counts.connection_waits);
  write(object, out, "connections", counts.connections);
  write(object, out, "round_trips", counts.round_trips);
  object.field("retries", counts.retries)
      .field("unknown_outcomes", counts.unknown_outcomes)
      .field("spilled_turns", counts.spilled_turns)
      .close();
  return out;
}

}  // namespace reprise
