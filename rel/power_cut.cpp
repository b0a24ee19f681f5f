#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <vector>

#include "additions.h"
#include "base/text.h"
#include "calls.h"
#include "disk.h"
#include "history.h"
#include "life.h"
#include "tally.h"
#include "trial.h"
#include "trials.h"
#include "writers.h"

namespace reprise::rel {
namespace {

// The store is reopened after this number of steps.
constexpr std::size_t kStepsOpen = 5;

struct Recorded {
  DiskRecord disk;
  // The number of changes before each step, and after its acknowledgement.
  std::vector<std::size_t> started;
  std::vector<std::size_t> ended;
};

Recorded record_life(const History& history) {
  history.restore(0);
  Recorded out{DiskRecord(history.location()), {}, {}};
  watch(history.location().native(), {}, &out.disk);
  for (std::size_t step = 0; step < history.steps().size();) {
    const auto store = history.kind().open(history.location(), {});
    const std::size_t end = std::min(step + kStepsOpen, history.steps().size());
    for (; step < end; ++step) {
      out.started.push_back(out.disk.changes());
      if (!store || !history.steps()[step].run(**store)) {
        throw std::runtime_error(cat("step failed: ", history.steps()[step].name));
      }
      out.ended.push_back(out.disk.changes());
    }
  }
  unwatch();
  return out;
}

// The steps that a power cut after `cut` changes must not undo, and those that had started.
struct Bounds {
  std::size_t durable = 0;
  std::size_t started = 0;
};

Bounds bounds_at(const History& history, const Recorded& life, std::size_t cut) {
  Bounds out;
  for (std::size_t step = 0; step < life.started.size(); ++step) {
    if (life.ended[step] <= cut && history.steps()[step].on_disk) {
      out.durable = step + 1;
    }
    if (life.started[step] < cut) {
      out.started = step + 1;
    }
  }
  out.started = std::max(out.started, out.durable);
  return out;
}

constexpr std::size_t kLongBytes = 50'000;
constexpr std::size_t kMessages = 100;                   // the log is restarted among them
constexpr std::size_t kMessagesBefore = 30;              // the log is not full yet
constexpr std::uintmax_t kDatabaseBytesMin = 1'000'000;  // after a checkpoint

// The number of changes after the acknowledgement of each message.
std::vector<std::size_t> fill_log(const Kind& kind, const std::filesystem::path& location,
                                  DiskRecord& disk) {
  std::vector<std::size_t> known;
  watch(location.native(), {}, &disk);
  const auto store = kind.open(location, {});
  for (std::size_t i = 0; i < kMessages; ++i) {
    if (!store || !add_named(**store, name_of(0, 0, static_cast<int>(i)), kLongBytes)) {
      throw std::runtime_error("cannot fill the log");
    }
    known.push_back(disk.changes());
  }
  unwatch();
  if (std::filesystem::file_size(location / "reprise.db") < kDatabaseBytesMin) {
    throw std::runtime_error("the log has not gone into the database");
  }
  return known;
}

}  // namespace

Tally simulate_power_cuts_of_long_log(const Kind& kind, std::size_t states) {
  const WorkFolder work;
  const std::filesystem::path location = work.path() / "now";
  begin_named(kind, location);
  DiskRecord disk(location);
  const std::vector<std::size_t> known = fill_log(kind, location, disk);
  const std::size_t begin = known[kMessagesBefore];
  Tally tally;
  for (std::size_t i = 0; i < states; ++i) {
    const std::size_t cut = begin + i * (known.back() - begin) / states;
    const Arrival arrival = i % 2 == 0 ? Arrival::journalled : Arrival::minimal;
    std::minstd_rand chance(static_cast<unsigned>(i + 1));
    disk.write_state(cut, arrival, chance, location);
    const auto acknowledged = std::ranges::upper_bound(known, cut) - known.begin();
    tally.add(cat(kind.name, ", a long log, power cut ", i, " after change ", cut),
              examine_named(kind, location, 1, {{{0, 0}, static_cast<int>(acknowledged)}}));
  }
  return tally;
}

Tally simulate_power_cuts(const History& history, std::size_t states) {
  const Recorded life = record_life(history);
  Tally tally;
  for (std::size_t i = 0; i < states; ++i) {
    const std::size_t cut = i * life.disk.changes() / states + 1;
    const Arrival arrival = i % 2 == 0 ? Arrival::journalled : Arrival::minimal;
    std::minstd_rand chance(static_cast<unsigned>(i + 1));
    life.disk.write_state(cut, arrival, chance, history.location());
    const Bounds bounds = bounds_at(history, life, cut);
    const Ended ended = in_process([&](const Print& /*print*/) {
      return examine(history.kind(), history.location(),
                     history.snapshot(bounds.durable, bounds.started),
                     {.ignores_running = true, .allows_damage = bounds.started > bounds.durable});
    });
    tally.add(cat(history.kind().name, ", power cut ", i, " after change ", cut, " of ",
                  life.disk.changes(), " (",
                  arrival == Arrival::journalled ? "journalled" : "minimal", ", in \"",
                  bounds.started > 0 ? history.steps()[bounds.started - 1].name : "opening", "\")"),
              ended.output + ended.fault);
  }
  return tally;
}

}  // namespace reprise::rel
