#include <signal.h>

#include <algorithm>
#include <random>
#include <thread>

#include "additions.h"
#include "base/text.h"
#include "life.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "tally.h"
#include "trial.h"
#include "trials.h"
#include "writers.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kReaders = 2;
constexpr std::size_t kMomentsMax = 2000;
constexpr milliseconds kPatience{300};    // the timeout beside a stopped holder of the lock
constexpr milliseconds kBoundedBy{5000};  // the timeout, with tolerance for a busy machine

std::string verify(const Kind& kind, const fs::path& location) {
  const auto store = kind.open(location, {});
  if (!store) {
    return store.error().message;
  }
  if ((*store)->capabilities().repair == nullptr) {
    return "";
  }
  const auto report = (*store)->capabilities().repair->verify();
  return !report                  ? report.error().message
         : report->damage.empty() ? ""
                                  : cat("damage: ", report->damage.front().reason);
}

int read_on_and_on(const Kind& kind, const fs::path& location, std::size_t messages) {
  std::vector<std::string> before;
  while (before.size() < messages) {
    const auto store = kind.open(location, {.access = Access::read});
    auto names = store ? names_in(**store) : Result<std::vector<std::string>>();
    if (!store || !names || names->size() < before.size() ||
        !std::equal(before.begin(), before.end(), names->begin())) {
      return 1;
    }
    before = *std::move(names);
  }
  return 0;
}

// Waits until the writer has written. One stopped while opening the store may block all readers:
// SQLite's index of the log is then incomplete.
void wait_for_first(const Kind& kind, const fs::path& location) {
  for (bool has_written = false; !has_written;) {
    const auto store = kind.open(location, {.access = Access::read});
    const auto names = store ? names_in(**store) : Result<std::vector<std::string>>();
    has_written = names && !names->empty();
  }
}

}  // namespace

Tally kill_writers(const Kind& kind, std::size_t rounds) {
  const WorkFolder work;
  const fs::path location = work.path() / "now";
  std::minstd_rand random(7);
  Tally tally;
  for (std::size_t i = 0; i < rounds; ++i) {
    // Starts again from time to time, since stores that rewrite a file for each message become
    // slow.
    if (i % 20 == 0) {
      fs::remove_all(location);
      begin_named(kind, location);
    }
    const int round = static_cast<int>(i);
    Writers writers(kind, location, round);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
    const Acknowledged& known = writers.kill();
    tally.add(cat(kind.name, ", killed at moment ", i),
              examine_named(kind, location, round + 1, known));
  }
  return tally;
}

Tally write_concurrently(const Kind& kind, const CrowdSize& size) {
  const WorkFolder work;
  const fs::path location = work.path() / "now";
  begin_named(kind, location);
  Acknowledged known;
  std::vector<Process> writers;
  writers.reserve(static_cast<std::size_t>(size.writers));
  for (int writer = 0; writer < size.writers; ++writer) {
    known[{0, writer}] = size.messages;
    writers.emplace_back([&, writer] {
      return write_as(kind, location,
                      {.writer = writer, .messages = size.messages, .bytes = size.bytes});
    });
  }
  std::vector<Process> readers;
  readers.reserve(kReaders);
  for (int reader = 0; reader < kReaders; ++reader) {
    readers.emplace_back([&] {
      return read_on_and_on(
          kind, location,
          static_cast<std::size_t>(size.writers) * static_cast<std::size_t>(size.messages));
    });
  }
  Tally tally;
  const std::string what = cat(kind.name, ", ", size.writers, " x ", size.messages);
  bool all_wrote = true;
  for (Process& writer : writers) {
    const int code = writer.wait();
    all_wrote &= code == 0;
    tally.add(what, code == 0 ? "" : cat("a writer ended with ", code));
  }
  if (!all_wrote) {
    return tally;  // the readers would wait forever
  }
  for (Process& reader : readers) {
    const int code = reader.wait();
    tally.add(what, code == 0 ? "" : cat("a reader saw messages come and go (", code, ")"));
  }
  tally.add(what, verify(kind, location));
  tally.add(what, examine_named(kind, location, 1, known));
  return tally;
}

Tally stop_lock_holder(const Kind& kind, std::size_t moments) {
  const WorkFolder work;
  const fs::path location = work.path() / "now";
  begin_named(kind, location);
  Process holder([&] { return write_as(kind, location, {}); });
  wait_for_first(kind, location);
  std::minstd_rand random(3);
  Tally tally;
  std::size_t refused = 0;
  for (std::size_t i = 0; i < moments || (refused == 0 && i < kMomentsMax); ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3'000));
    holder.signal(SIGSTOP);
    const auto start = steady_clock::now();
    const auto store = kind.open(location, {.busy_timeout = kPatience});
    const auto done = store ? add_named(**store, name_of(1, 0, static_cast<int>(i - refused)), 10)
                            : Result<>(std::unexpected(store.error()));
    const bool in_time = steady_clock::now() - start < kBoundedBy;
    const auto reader = kind.open(location, {.access = Access::read});
    const auto names = reader ? names_in(**reader) : Result<std::vector<std::string>>();
    refused += done ? 0U : 1U;
    tally.add(cat(kind.name, ", holder stopped at moment ", i),
              !in_time                                   ? "the wait has no bound"
              : !done && done.error().code != Code::busy ? done.error().message
              : !reader || !names                        ? "readers wait"
                                                         : "");
    holder.signal(SIGCONT);
  }
  tally.add(kind.name, refused > 0 ? "" : "the holder was never stopped with the lock");
  holder.signal(SIGKILL);
  holder.wait();
  tally.add(kind.name, examine_named(kind, location, 2, {}));
  return tally;
}

}  // namespace reprise::rel
