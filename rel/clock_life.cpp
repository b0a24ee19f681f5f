#include <array>
#include <cstddef>
#include <memory>

#include "base/text.h"
#include "clock_shift.h"
#include "history.h"
#include "life.h"
#include "reprise/error.h"
#include "tally.h"
#include "trial.h"
#include "trials.h"

namespace reprise::rel {
namespace {

// Forty days back, in 2037, after 2038, too fast, and different for each call.
constexpr std::array<const char*, 5> kClocks = {"-3456000", "347000000", "2522880000", "x100",
                                                "jump"};

std::string step_under(const char* clock, const History& history, std::size_t step) {
  const Ended ended = in_process([&](const Print& /*print*/) -> std::string {
    set_clock(clock);
    const auto store = history.kind().open(history.location(), {});
    const auto done =
        store ? history.steps()[step].run(**store) : Result<>(std::unexpected(store.error()));
    const auto snapshot =
        done ? take_snapshot(**store) : Result<Snapshot>(std::unexpected(done.error()));
    if (!snapshot) {
      return snapshot.error().message;
    }
    return *snapshot == history.snapshot(step + 1) ? "" : "shows something else";
  });
  return ended.output + ended.fault;
}

}  // namespace

Tally run_with_wrong_clocks(const History& history) {
  Tally tally;
  for (const char* const clock : kClocks) {
    history.restore(0);
    for (std::size_t step = 0; step < history.steps().size(); ++step) {
      tally.add(cat(history.kind().name, ", ", history.steps()[step].name, ", clock ", clock),
                step_under(clock, history, step));
    }
  }
  return tally;
}

}  // namespace reprise::rel
