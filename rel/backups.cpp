#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "calls.h"
#include "disk.h"
#include "history.h"
#include "life.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "tally.h"
#include "trial.h"
#include "trials.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

// The folder of the copy. Only calls below the store's own folder are watched.
fs::path copied_store(const History& history) {
  return history.location() / "backup";
}

fs::path target_of(const History& history) {
  const auto& all = store_kinds();
  const auto kind = std::ranges::find(all, history.kind().name, &StoreKind::name);
  return copied_store(history) / kind->default_name;
}

void set_up(const History& history) {
  history.restore(history.steps().size());
  fs::create_directories(copied_store(history));
}

Result<> back_up(const History& history) {
  REPRISE_ASSIGN(const auto store, history.kind().open(history.location(), {}));
  Backup* const backup = store->capabilities().backup;
  return backup != nullptr ? backup->backup(target_of(history))
                           : fail(Code::unsupported, "no backup");
}

std::int64_t count_calls_of_backup(const History& history) {
  set_up(history);
  const Ended ended = in_process([&](const Print& /*print*/) {
    watch(history.location().native());
    const auto done = back_up(history);
    return cat(done ? call_counts().all : 0);
  });
  return std::atoll(ended.output.c_str());
}

std::string try_twice(const History& history, const Trap& trap, const Print& print) {
  DiskRecord disk(history.location());
  watch(history.location().native(), trap, &disk);
  const auto first = back_up(history);
  if (!first) {
    unwatch();
    if (first.error().message.empty() || first.error().message.contains('\n')) {
      return cat("the error is no line: ", first.error().message);
    }
    if (const auto half = history.kind().open(copied_store(history), {.access = Access::read});
        half) {
      const auto snapshot = take_snapshot(**half);
      if (!snapshot || snapshot->lasting != history.snapshot(history.steps().size()).lasting) {
        return "a backup that failed looks like one";
      }
    }
    const auto second = back_up(history);
    return second || second.error().code == Code::conflict
               ? ""
               : cat("cannot be repeated: ", second.error().message, " (after ",
                     first.error().message, ")");
  }
  unwatch();
  disk.write_certain(Arrival::minimal, history.location());
  print(kDone);
  return "";
}

std::string failed_backup(const History& history, const Trap& trap) {
  set_up(history);
  const Ended ended =
      in_process([&](const Print& print) { return try_twice(history, trap, print); });
  if (!ended.fault.empty() || ended.killed || (!ended.output.empty() && ended.output != kDone)) {
    return ended.fault + ended.output;
  }
  if (ended.output != kDone) {
    return "";
  }
  const std::size_t end = history.steps().size();
  const Ended examined = in_process([&](const Print& /*print*/) {
    return examine(history.kind(), copied_store(history), history.snapshot(end, end),
                   {.ignores_running = true});
  });
  return examined.output + examined.fault;
}

}  // namespace

Tally fail_backups(const History& history, std::int64_t stride) {
  constexpr Trap kTraps[] = {
      {.what = Trap::What::fail, .error = EIO},
      {.what = Trap::What::fail, .error = ENOSPC, .lasting = true},
      {.what = Trap::What::short_write, .error = ENOSPC, .lasting = true},
      {.what = Trap::What::fail, .error = EINTR},
      {.what = Trap::What::short_read},
  };
  Tally tally;
  const std::int64_t calls = count_calls_of_backup(history);
  if (calls == 0) {
    tally.add(cat(history.kind().name, ", backup"), "fails with no fault");
  }
  for (std::int64_t at = 1; at <= calls; at += stride) {
    for (Trap trap : kTraps) {
      trap.at = at;
      tally.add(
          cat(history.kind().name, ", backup, ", describe(trap), " at call ", at, " of ", calls),
          failed_backup(history, trap));
    }
  }
  return tally;
}

}  // namespace reprise::rel
