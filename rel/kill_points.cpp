#include <algorithm>
#include <cerrno>
#include <memory>
#include <span>
#include <sstream>

#include "base/text.h"
#include "calls.h"
#include "disk.h"
#include "history.h"
#include "life.h"
#include "reprise/store.h"
#include "tally.h"
#include "trial.h"
#include "trials.h"

namespace reprise::rel {
namespace {

struct Counted {
  std::int64_t all = 0;
  std::int64_t changes = 0;
  std::vector<std::int64_t> delicate;
};

// Counts the calls of a step without faults.
Counted count_calls(const History& history, std::size_t step) {
  history.restore(step);
  const Ended ended = in_process([&](const Print& /*print*/) {
    watch(history.location().native());
    {
      const auto store = history.kind().open(history.location(), {});
      if (!store || !history.steps()[step].run(**store)) {
        return std::string("0 0");
      }
    }
    const CallCounts counts = call_counts();
    std::string out = cat(counts.all, " ", counts.changes);
    for (const std::int64_t call : counts.delicate) {
      out += cat(" ", call);
    }
    return out;
  });
  std::istringstream printed(ended.output);
  Counted out;
  printed >> out.all >> out.changes;
  for (std::int64_t call = 0; printed >> call;) {
    out.delicate.push_back(call);
  }
  return out;
}

// The store must show the step as done, or, unless `must_be_done`, either as done or not.
std::string examine_after(const History& history, std::size_t step, bool must_be_done,
                          bool ignores_running = false) {
  const Ended ended = in_process([&](const Print& /*print*/) {
    return examine(history.kind(), history.location(),
                   history.snapshot(must_be_done ? step + 1 : step, step + 1),
                   {.ignores_running = ignores_running});
  });
  return ended.output + ended.fault;
}

std::string killed_at(const History& history, std::size_t step, std::int64_t at) {
  history.restore(step);
  const Killed killed = run_killed(history.steps()[step], [&] {
    watch(history.location().native(), {.what = Trap::What::kill, .at = at});
    return history.kind().open(history.location(), {});
  });
  if (!killed.fault.empty()) {
    return killed.fault;
  }
  const std::string fault = examine_after(history, step, killed.is_done);
  return fault.empty() ? "" : cat(killed.is_done ? "lost what was acknowledged: " : "", fault);
}

// Runs the step with failing calls and, if it fails, again without.
std::string run_twice(const History& history, std::size_t step, const Trap& trap,
                      const Print& print) {
  DiskRecord disk(history.location());
  watch(history.location().native(), trap, &disk);
  auto store = history.kind().open(history.location(), {});
  const LifeStep& what = history.steps()[step];
  const auto first = store ? what.run(**store) : Result<>(std::unexpected(store.error()));
  watch(history.location().native(), {}, &disk);
  // A completed step must be durable, whatever failed meanwhile.
  const auto cut_power = [&] {
    unwatch();
    if (what.on_disk) {
      store = Result<std::unique_ptr<Store>>();
      disk.write_certain(Arrival::minimal, history.location());
    }
  };
  if (first) {
    cut_power();
    print(kDone);
    return "";
  }
  if (first.error().message.empty() || first.error().message.contains('\n')) {
    return cat("the error is no line: ", first.error().message);
  }
  if (!what.repeatable) {
    return "";
  }
  if (!store) {
    store = history.kind().open(history.location(), {});
  }
  if (!store) {
    return cat("cannot be opened afterwards: ", store.error().message);
  }
  const auto second = what.run(**store);
  if (!second) {
    const auto snapshot = take_snapshot(**store);
    if (!snapshot || *snapshot != history.snapshot(step + 1)) {
      return cat("cannot be repeated: ", second.error().message, " (after ", first.error().message,
                 ")");
    }
  }
  if (second) {
    cut_power();
  }
  print(kDone);
  return "";
}

std::string failed_at(const History& history, std::size_t step, const Trap& trap) {
  history.restore(step);
  const Ended ended =
      in_process([&](const Print& print) { return run_twice(history, step, trap, print); });
  if (!ended.fault.empty() || ended.killed || (!ended.output.empty() && ended.output != kDone)) {
    return ended.fault + ended.output;
  }
  // Text streamed while its file could not grow may be stored partially.
  const bool is_done = ended.output == kDone;
  return examine_after(history, step, is_done, !is_done && !history.steps()[step].on_disk);
}

}  // namespace

std::string describe(const Trap& trap) {
  const std::string_view error = trap.error == EIO      ? "EIO"
                                 : trap.error == ENOSPC ? "ENOSPC"
                                 : trap.error == EINTR  ? "EINTR"
                                                        : "EDQUOT";
  if (trap.what == Trap::What::short_read) {
    return "short reads";
  }
  return cat(trap.what == Trap::What::short_write ? "short write, then " : "", error,
             trap.lasting ? " for ever" : " once");
}

Tally kill_at_every_change(const History& history) {
  Tally tally;
  for (std::size_t step = 0; step < history.steps().size(); ++step) {
    const std::int64_t changes = count_calls(history, step).changes;
    for (std::int64_t at = 1; at <= changes; ++at) {
      tally.add(cat(history.kind().name, ", ", history.steps()[step].name, ", killed at change ",
                    at, " of ", changes),
                killed_at(history, step, at));
    }
  }
  return tally;
}

Tally fail_at_calls(const History& history, std::int64_t stride) {
  static const std::vector<Trap> traps = {
      {.what = Trap::What::fail, .error = EIO},
      {.what = Trap::What::fail, .error = ENOSPC, .lasting = true},
      {.what = Trap::What::fail, .error = EDQUOT},  // NOLINT(misc-include-cleaner): <cerrno>
      {.what = Trap::What::fail, .error = EIO, .lasting = true},
      {.what = Trap::What::short_write, .error = ENOSPC, .lasting = true},
      {.what = Trap::What::short_write, .error = ENOSPC},
      {.what = Trap::What::fail, .error = EINTR},
      {.what = Trap::What::short_read},
  };
  const std::int64_t delicate_stride = (stride + 19) / 20;
  // After a step's last calls, it can no longer be undone.
  constexpr std::ptrdiff_t kLast = 2;
  Tally tally;
  for (std::size_t step = 0; step < history.steps().size(); ++step) {
    const Counted calls = count_calls(history, step);
    for (std::int64_t at = 1; at <= calls.all; ++at) {
      const std::int64_t turn = at - 1 - static_cast<std::int64_t>(step);
      const auto delicate = std::ranges::find(calls.delicate, at);
      const bool is_delicate =
          delicate != calls.delicate.end() &&
          (turn % delicate_stride == 0 || calls.delicate.end() - delicate <= kLast);
      const std::size_t count = turn % stride == 0 ? traps.size() : is_delicate ? 1 : 0;
      for (Trap trap : std::span(traps).first(count)) {
        trap.at = at;
        tally.add(cat(history.kind().name, ", ", history.steps()[step].name, ", ", describe(trap),
                      " at call ", at, " of ", calls.all),
                  failed_at(history, step, trap));
      }
    }
  }
  return tally;
}

}  // namespace reprise::rel
