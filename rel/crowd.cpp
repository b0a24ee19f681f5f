#include "crowd.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "history.h"
#include "life.h"
#include "reprise/error.h"
#include "reprise/open_store.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "trial.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kWriters = 4;
constexpr int kReaders = 2;
constexpr std::size_t kMomentsMax = 2000;
constexpr milliseconds kPatience{300};    // of who meets a stopped holder
constexpr milliseconds kBoundedBy{5000};  // patience, and a busy machine

// What a writer has told: how many of its messages were acknowledged.
struct Told {
  int writer = 0;
  int count = 0;
};

std::string name_of(int round, int writer, int number) {
  return cat(round, ".", writer, ".", number);
}

// A process that is killed, if it still runs, and waited for.
class Process {
 public:
  explicit Process(const std::function<int()>& work) : pid_(::fork()) {
    if (pid_ == 0) {
      int code = 99;
      try {
        code = work();
      } catch (...) {
        code = 98;
      }
      ::_exit(code);
    }
  }
  ~Process() {
    if (pid_ > 0) {
      signal(SIGKILL);
      wait();
    }
  }
  Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Process& operator=(Process&&) = delete;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const { ::kill(pid_, number); }
  int wait() {
    int status = -1;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_;
};

// Writes on and on, or so many, and tells after each.
int write_as(const Kind& kind, const fs::path& place, int round, int writer, int messages,
             std::size_t bytes, int out) {
  const auto store = kind.open(place, {.busy_timeout = std::chrono::minutes(2)});
  if (!store) {
    return 1;
  }
  for (int i = 0; i < messages; ++i) {
    if (!add_named(**store, name_of(round, writer, i), bytes)) {
      return 2;
    }
    const Told told{writer, i + 1};
    if (out >= 0 && ::write(out, &told, sizeof told) != sizeof told) {
      return 3;
    }
  }
  return 0;
}

// "" when each writer's messages are there from its first to its last, in order, at least as many
// as it was told, and nothing twice.
std::string check_names(const std::vector<std::string>& names,
                        const std::map<std::pair<int, int>, int>& told) {
  std::map<std::pair<int, int>, int> next;
  for (const std::string& name : names) {
    const std::size_t first = name.find('.');
    const std::size_t second = name.find('.', first + 1);
    const std::pair<int, int> who{std::stoi(name), std::stoi(name.substr(first + 1))};
    if (std::stoi(name.substr(second + 1)) != next[who]++) {
      return cat("message ", name, " is lost, doubled or out of order");
    }
  }
  for (const auto& [who, count] : told) {
    if (next[who] < count) {
      return cat("of round ", who.first, ", writer ", who.second, ": told ", count, ", kept ",
                 next[who]);
    }
  }
  return "";
}

// `next` is a round that has not begun: under its name one more message is added.
std::string examine_crowd(const Kind& kind, const fs::path& place, int next,
                          const std::map<std::pair<int, int>, int>& told) {
  const Ended ended = in_process([&](const Say& /*say*/) -> std::string {
    const auto store = kind.open(place, {});
    if (!store) {
      return store.error().message;
    }
    const auto names = names_in(**store);
    if (!names) {
      return names.error().message;
    }
    if (std::string fault = check_names(*names, told); !fault.empty()) {
      return fault;
    }
    const auto added = add_named(**store, name_of(next, kWriters, 0), 0);
    return added ? "" : added.error().message;
  });
  return ended.said + ended.fault;
}

void begin(const Kind& kind, const fs::path& place) {
  fs::create_directories(place);
  const auto store = kind.open(place, {});
  const auto done = store ? create_named(**store) : Result<>(std::unexpected(store.error()));
  if (!done) {
    throw std::runtime_error(done.error().message);
  }
}

std::string verify(const Kind& kind, const fs::path& place) {
  const auto store = kind.open(place, {});
  if (!store) {
    return store.error().message;
  }
  if ((*store)->offers().repair == nullptr) {
    return "";
  }
  const auto report = (*store)->offers().repair->verify();
  return !report                  ? report.error().message
         : report->damage.empty() ? ""
                                  : cat("damage: ", report->damage.front().reason);
}

int read_on_and_on(const Kind& kind, const fs::path& place, std::size_t messages) {
  std::vector<std::string> before;
  while (before.size() < messages) {
    const auto store = kind.open(place, {.access = Access::read});
    auto names = store ? names_in(**store) : Result<std::vector<std::string>>();
    if (!store || !names || names->size() < before.size() ||
        !std::equal(before.begin(), before.end(), names->begin())) {
      return 1;
    }
    before = *std::move(names);
  }
  return 0;
}

// What the writers say until all of them are gone.
std::map<std::pair<int, int>, int> listen(int in, int round) {
  std::map<std::pair<int, int>, int> told;
  Told one;
  while (::read(in, &one, sizeof one) == static_cast<ssize_t>(sizeof one)) {
    told[{round, one.writer}] = one.count;
  }
  return told;
}

std::array<Fd, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  return {Fd(ends[0]), Fd(ends[1])};
}

// Until the writer has written. One that is stopped while it opens the store may hold what nobody
// can read past: SQLite's index of the log is then half rebuilt.
void wait_for_first(const Kind& kind, const fs::path& place) {
  for (bool has_written = false; !has_written;) {
    const auto store = kind.open(place, {.access = Access::read});
    const auto names = store ? names_in(**store) : Result<std::vector<std::string>>();
    has_written = names && !names->empty();
  }
}

}  // namespace

Tally kill_crowds(const Kind& kind, std::size_t rounds) {
  const WorkFolder work;
  const fs::path place = work.path() / "now";
  std::minstd_rand random(7);
  Tally tally;
  for (std::size_t i = 0; i < rounds; ++i) {
    // A new one from time to time: the stores that rewrite a file at each message get slow.
    if (i % 20 == 0) {
      fs::remove_all(place);
      begin(kind, place);
    }
    const int round = static_cast<int>(i);
    auto [in, out] = make_pipe();
    std::vector<Process> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&, &to = out] {
        return write_as(kind, place, round, writer, 1'000'000, 200, to.get());
      });
    }
    out = Fd();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
    for (const Process& writer : writers) {
      writer.signal(SIGKILL);
    }
    const auto told = listen(in.get(), round);
    writers.clear();
    tally.add(cat(kind.name, ", killed at moment ", i),
              examine_crowd(kind, place, round + 1, told));
  }
  return tally;
}

Tally write_beside_each_other(const Kind& kind, const CrowdSize& size) {
  const WorkFolder work;
  const fs::path place = work.path() / "now";
  begin(kind, place);
  std::map<std::pair<int, int>, int> told;
  std::vector<Process> writers;
  for (int writer = 0; writer < size.writers; ++writer) {
    told[{0, writer}] = size.messages;
    writers.emplace_back(
        [&, writer] { return write_as(kind, place, 0, writer, size.messages, size.bytes, -1); });
  }
  std::vector<Process> readers;
  for (int reader = 0; reader < kReaders; ++reader) {
    readers.emplace_back([&] {
      return read_on_and_on(
          kind, place,
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
    return tally;  // the readers would wait for ever
  }
  for (Process& reader : readers) {
    const int code = reader.wait();
    tally.add(what, code == 0 ? "" : cat("a reader saw messages come and go (", code, ")"));
  }
  tally.add(what, verify(kind, place));
  tally.add(what, examine_crowd(kind, place, 1, told));
  return tally;
}

Tally stop_the_holder(const Kind& kind, std::size_t moments) {
  const WorkFolder work;
  const fs::path place = work.path() / "now";
  begin(kind, place);
  Process holder([&] { return write_as(kind, place, 0, 0, 1'000'000, 200, -1); });
  wait_for_first(kind, place);
  std::minstd_rand random(3);
  Tally tally;
  std::size_t refused = 0;
  for (std::size_t i = 0; i < moments || (refused == 0 && i < kMomentsMax); ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3'000));
    holder.signal(SIGSTOP);
    const auto begun = steady_clock::now();
    const auto store = kind.open(place, {.busy_timeout = kPatience});
    const auto done = store ? add_named(**store, name_of(1, 0, static_cast<int>(i - refused)), 10)
                            : Result<>(std::unexpected(store.error()));
    const bool in_time = steady_clock::now() - begun < kBoundedBy;
    const auto reader = kind.open(place, {.access = Access::read});
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
  tally.add(kind.name, examine_crowd(kind, place, 2, {}));
  return tally;
}

}  // namespace reprise::rel
