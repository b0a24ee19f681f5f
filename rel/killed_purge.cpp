// Apart from purge.cpp, which is also part of a program that does not replace system calls.

#include <algorithm>
#include <cstdint>

#include "additions.h"
#include "base/text.h"
#include "calls.h"
#include "life.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "small_disk.h"
#include "tally.h"
#include "trial.h"
#include "trials.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

// A session larger than any reserved space; returns its head.
Result<Seq> make_large(const Kind& kind, const fs::path& location) {
  REPRISE_ASSIGN(const auto store, kind.open(location, {}));
  Session session = empty_session(kPurged);
  session.info.title = kPurgedWord;
  REPRISE_TRY(store->create(session));
  Seq head;
  for (int i = 0; i < 6; ++i) {
    const std::string text = cat(kPurgedWord, i, std::string(i == 1 ? 1'500'000 : 150'000, 'x'));
    REPRISE_ASSIGN(
        const AppendResult added,
        store->append(session.info.id,
                      {message_of(store->capabilities().messages, "user", text, i)}, {}));
    head = added.head;
  }
  return head;
}

// After a purge that was killed.
Result<std::string> complete_purge(const Kind& kind, const fs::path& location, Seq head) {
  REPRISE_ASSIGN(const auto store, kind.open(location, {}));
  REPRISE_ASSIGN(const auto left, store->find(session(kPurged)));
  REPRISE_ASSIGN(const VerifyReport report, store->capabilities().verifier->verify());
  Trash& trash = *store->capabilities().trash;
  if (left) {
    const bool is_whole = left->info.head == head;
    const bool is_reported = std::ranges::any_of(report.damage, [](const Damage& part) {
      return part.reason.find("partly removed") != std::string::npos;
    });
    if (!is_whole && (!is_reported || trash.restore(session(kPurged)))) {
      return is_reported ? "it was restored in parts" : "a part of it is left, and not reported";
    }
    REPRISE_TRY(trash.purge(session(kPurged)));
  } else {
    (void)trash.purge(session(kPurged));  // removes what is left of it
  }
  REPRISE_ASSIGN(const auto found, store->find(session(kPurged)));
  return found ? "it is still there" : files_with_words(location);
}

}  // namespace

Tally kill_purges(const Kind& kind) {
  Tally tally;
  for (std::int64_t at = 1;; at += 1 + at / 30) {
    const WorkFolder work;
    const SmallDisk disk("tmpfs", work.path(), {.bytes = std::uintmax_t{16} << 20});
    const fs::path location = disk.path() / "now";
    fs::create_directories(location);
    const auto head = make_large(kind, location);
    if (!head) {
      tally.add(cat(kind.name, " with a large session"), head.error().message);
      return tally;
    }
    fill_bytes(disk.path());
    const Ended purged = in_process([&](const Print& /*print*/) {
      watch(location.native(), {.what = Trap::What::kill, .at = at});
      const auto store = kind.open(location, {});
      const auto done = store ? (*store)->capabilities().trash->purge(session(kPurged))
                              : Result<>(std::unexpected(store.error()));
      return done ? std::string() : done.error().message;
    });
    fs::remove(disk.path() / "filler");
    const Ended completed = in_process([&](const Print& /*print*/) {
      const auto fault = complete_purge(kind, location, *head);
      return fault ? *fault : fault.error().message;
    });
    tally.add(cat(kind.name, ", a purge on a full disk killed at change ", at),
              purged.output + purged.fault + completed.output + completed.fault);
    if (!purged.killed) {
      return tally;
    }
  }
}

}  // namespace reprise::rel
