#include <array>
#include <charconv>
#include <mutex>
#include <thread>
#include <utility>

#include "base/json_write.h"
#include "base/text.h"
#include "cli/process/arguments.h"
#include "cli/program/store_opener.h"

namespace reprise::cli {
namespace {

using std::chrono::microseconds;

constexpr std::size_t kPendingMax = 100;

// "0.8 ms" or "1.25 s".
std::string duration_text(microseconds time) {
  const bool is_long = time >= std::chrono::seconds(1);
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(),
                                 static_cast<double>(time.count()) / (is_long ? 1e6 : 1e3),
                                 std::chars_format::fixed, is_long ? 2 : 1);
  return cat(std::string_view(digits.data(), end.ptr), is_long ? " s" : " ms");
}

// "2 in 3.0 ms, longest 2.1 ms".
std::string timing_text(const Timing& timing) {
  const std::string total = cat(timing.count, " in ", duration_text(timing.total));
  return timing.count < 2 ? total : cat(total, ", longest ", duration_text(timing.longest));
}

void add(std::string& line, std::string_view name, const Timing& timing) {
  if (timing.count > 0) {
    line += cat("; ", name, " ", timing_text(timing));
  }
}

void add(std::string& line, std::string_view name, std::int64_t count) {
  if (count > 0) {
    line += cat("; ", name, " ", count);
  }
}

std::string slow_text(const SlowCall& call) {
  const std::string text = cat("slow: ", call.call, " took ", duration_text(call.time));
  return call.part.empty()
             ? text
             : cat(text, ", ", duration_text(call.part_time), " of it for ", call.part);
}

}  // namespace

std::string statistics_line(const StoreCounts& counts) {
  std::string line;
  for (const auto& [name, timing] : counts.calls) {
    line += cat(line.empty() ? "" : "; ", name, " ", timing_text(timing));
  }
  add(line, "locks", counts.locks);
  add(line, "connections", counts.connections);
  add(line, "round trips", counts.round_trips);
  add(line, "waits for a connection", counts.connection_waits);
  add(line, "retries", counts.retries);
  add(line, "unknown outcomes", counts.unknown_outcomes);
  add(line, "spilled turns", counts.spilled_turns);
  return line.empty() ? "not used" : line;
}

void StoreMonitor::watch(StoreOptions& options, std::chrono::milliseconds slow_call) {
  options.statistics = &statistics_;
  options.slow_call = slow_call;
  options.on_slow_call = [this](const SlowCall& call) { report_slow(call); };
}

// The console is not thread-safe, so other threads' messages are queued.
void StoreMonitor::report_slow(const SlowCall& call) {
  std::string text = slow_text(call);
  if (std::this_thread::get_id() == thread_) {
    return console_.note(text);
  }
  const std::lock_guard lock(mutex_);
  if (pending_.size() < kPendingMax) {
    pending_.push_back(std::move(text));
  }
}

void StoreMonitor::finish(const Globals& globals) {
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& text : std::exchange(pending_, {})) {
      console_.note(text);
    }
  }
  const StoreCounts counts = statistics_.counts();
  if (!globals.stats && (!globals.verbose || globals.quiet || counts.calls.empty())) {
    return;
  }
  console_.end_progress();
  // Keeps the order of both outputs. A failure is reported at the end.
  (void)console_.out().flush();
  std::string object;
  json::ObjectWriter(object).raw("stats", store_counts_to_json(counts)).close();
  console_.err().write(globals.json ? cat(object, "\n")
                                    : cat("reprise: store: ", statistics_line(counts), "\n"));
}

}  // namespace reprise::cli
