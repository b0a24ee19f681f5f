#include "reprise/store_statistics.h"

#include <algorithm>

#include "base/json_write.h"

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
