// rel_store TRIAL [--long] [STORE…]
//
// Tests the promises of stores; prints one line for each store with the number of trials and the
// faults. Exits with 1 if there were any.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

#include "history.h"
#include "life.h"
#include "reprise/error.h"
#include "run.h"
#include "small_disk.h"
#include "tally.h"
#include "trial.h"
#include "trials.h"

namespace reprise::rel {
namespace {

// The number of trials.
struct Effort {
  std::size_t power_cuts = 500;
  std::size_t log_cuts = 50;
  std::int64_t call_stride = 90;
  std::int64_t copy_stride = 30;
  std::size_t crowds = 20;
  std::size_t stops = 5;
  std::size_t checkpoints = 4;
  std::size_t disk_cuts = 6;  // per file system
  int messages = 400;         // per writer of eight, if a message does not rewrite the whole file
  int whole_files = 1;        // the number of short rounds if it does: the time is quadratic
};
constexpr Effort kShort;
constexpr Effort kLong{.power_cuts = 100'000,
                       .log_cuts = 10'000,
                       .call_stride = 1,
                       .copy_stride = 1,
                       .crowds = 300,
                       .stops = 100,
                       .checkpoints = 60,
                       .disk_cuts = 100,
                       .messages = 10'000,
                       .whole_files = 10};

using Trial = std::function<Tally(const Kind&, const Effort&)>;

Trial on_history(const std::function<Tally(const History&, const Effort&)>& trial) {
  return [trial](const Kind& kind, const Effort& effort) {
    const WorkFolder work;
    return trial(History(kind, work.path()), effort);
  };
}

// Eight writers of many messages, and sixteen writers of few.
Tally contend(const Kind& kind, const Effort& effort) {
  Tally tally;
  if (kind.name != "sqlite" && kind.name != "chatdir") {
    for (int i = 0; i < effort.whole_files; ++i) {
      tally += write_concurrently(kind, {.writers = 8, .messages = 30});
      tally += write_concurrently(kind, {.writers = 16, .messages = 10});
    }
    return tally;
  }
  tally += write_concurrently(kind, {.writers = 8, .messages = effort.messages});
  tally += write_concurrently(kind, {.writers = 16, .messages = effort.messages / 5});
  if (kind.name == "sqlite") {
    // Long messages fill the log, so that it is checkpointed repeatedly.
    tally +=
        write_concurrently(kind, {.writers = 8, .messages = effort.messages / 5, .bytes = 50'000});
  }
  return tally;
}

Tally cut_power(const Kind& kind, const Effort& effort) {
  const WorkFolder work;
  Tally tally = simulate_power_cuts(History(kind, work.path()), effort.power_cuts);
  if (kind.name == "sqlite") {
    tally += simulate_power_cuts_of_long_log(kind, effort.log_cuts);
  }
  return tally;
}

const std::map<std::string_view, Trial>& trials() {
  static const std::map<std::string_view, Trial> all = {
      {"kill", on_history([](const History& history, const Effort& /*effort*/) {
         return kill_at_every_change(history);
       })},
      {"errors", on_history([](const History& history, const Effort& effort) {
         return fail_at_calls(history, effort.call_stride) +=
                fail_backups(history, effort.call_stride);
       })},
      {"power", cut_power},
      {"durable",
       [](const Kind& kind, const Effort& /*effort*/) { return check_durability(kind); }},
      {"clock", on_history([](const History& history, const Effort& /*effort*/) {
         return run_with_wrong_clocks(history);
       })},
      {"upgrade",
       [](const Kind& kind, const Effort& effort) {
         return upgrade_stores(kind) += kill_copies(kind, effort.copy_stride);
       }},
      {"crowd",
       [](const Kind& kind, const Effort& effort) { return kill_writers(kind, effort.crowds); }},
      {"disk", [](const Kind& kind,
                  const Effort& effort) { return cut_real_disks(kind, effort.disk_cuts); }},
      {"full", [](const Kind& kind,
                  const Effort& /*effort*/) { return fill_disks(kind) += kill_purges(kind); }},
      {"contention", contend},
      {"checkpoints",
       [](const Kind& kind, const Effort& effort) {
         return write_beside_checkpoints(kind, effort.checkpoints);
       }},
      {"purge",
       [](const Kind& kind, const Effort& /*effort*/) { return purge_concurrently(kind); }},
      {"stop",
       [](const Kind& kind, const Effort& effort) { return stop_lock_holder(kind, effort.stops); }},
  };
  return all;
}

bool needs_root(std::string_view trial) {
  return trial == "disk" || trial == "full";
}

// The beginning of a life without long messages. See golden/README.md.
void write_golden(const Kind& kind, const std::filesystem::path& location) {
  const std::filesystem::path folder = location / kind.name;
  std::filesystem::create_directories(folder);
  const auto store = kind.open(folder, {});
  for (const LifeStep& step : store ? life(**store) : std::vector<LifeStep>()) {
    if (step.name == "archive" || step.name == "trash") {
      return;
    }
    if (const auto done = step.name == "append long" ? Result<>() : step.run(**store); !done) {
      throw std::runtime_error(done.error().message);
    }
  }
}

}  // namespace

int run(std::vector<std::string> words) {
  const bool is_long = std::erase(words, "--long") > 0;
  if (words.size() <= 2 && !words.empty() && words.front() == "stores") {
    for (std::size_t i = 0; i < kinds().size(); ++i) {
      std::puts((words.size() == 1 ? kinds()[i].name : trial_urls(words[1])[i]).c_str());
    }
    return 0;
  }
  if (words.size() == 2 && words.front() == "golden") {
    std::ranges::for_each(kinds(), [&](const Kind& kind) { write_golden(kind, words.back()); });
    return 0;
  }
  if (words.empty() || !trials().contains(words.front())) {
    return usage(
        "rel_store "
        "kill|errors|power|durable|disk|full|clock|upgrade|crowd|contention|checkpoints|stop|purge "
        "[--long] "
        "[STORE...]");
  }
  const std::string& trial = words.front();
  // Reported, but not a fault: the user need not be root.
  if (const std::string why = needs_root(trial) ? can_mount() : ""; !why.empty()) {
    std::printf("%-8s skipped: %s\n", trial.c_str(), why.c_str());
    return 0;
  }
  bool all_good = true;
  for (const Kind& kind : kinds()) {
    if (words.size() == 1 || std::ranges::find(words, kind.name) != words.end()) {
      const Tally tally = trials().at(trial)(kind, is_long ? kLong : kShort);
      all_good &= report(trial, kind.name, tally);
    }
  }
  return all_good ? 0 : 1;
}

}  // namespace reprise::rel
