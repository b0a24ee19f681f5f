#include "writers.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <stdexcept>
#include <vector>

#include "additions.h"
#include "base/file.h"
#include "base/text.h"
#include "life.h"
#include "trial.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

constexpr int kWriters = 4;

// A writer's report: the number of its acknowledged messages.
struct KnownMessage {
  int writer = 0;
  int count = 0;
};

// A pipe with a non-blocking read end.
std::array<Fd, 2> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0 || ::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
    throw std::runtime_error("no pipe");
  }
  return {Fd(ends[0]), Fd(ends[1])};
}

}  // namespace

std::string check_named(const std::vector<std::string>& names, const Acknowledged& known) {
  Acknowledged next;
  for (const std::string& name : names) {
    const std::size_t first = name.find('.');
    const std::size_t second = name.find('.', first + 1);
    const std::pair<int, int> who{std::stoi(name), std::stoi(name.substr(first + 1))};
    if (std::stoi(name.substr(second + 1)) != next[who]++) {
      return cat("message ", name, " is lost, doubled or out of order");
    }
  }
  for (const auto& [who, count] : known) {
    if (next[who] < count) {
      return cat("of round ", who.first, ", writer ", who.second, ": acknowledged ", count,
                 ", stored ", next[who]);
    }
  }
  return "";
}

Process::Process(const std::function<int()>& work) : pid_(::fork()) {
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

Process::~Process() {
  if (pid_ > 0) {
    signal(SIGKILL);
    wait();
  }
}

void Process::signal(int number) const {
  ::kill(pid_, number);
}

int Process::wait() {
  int status = -1;
  ::waitpid(std::exchange(pid_, -1), &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void begin_named(const Kind& kind, const fs::path& location) {
  fs::create_directories(location);
  const auto store = kind.open(location, {});
  const auto done = store ? create_named(**store) : Result<>(std::unexpected(store.error()));
  if (!done) {
    throw std::runtime_error(done.error().message);
  }
}

std::string name_of(int round, int writer, int number) {
  return cat(round, ".", writer, ".", number);
}

int write_as(const Kind& kind, const fs::path& location, const Writing& writing) {
  const auto store = kind.open(location, {.busy_timeout = std::chrono::minutes(2)});
  if (!store) {
    return 1;
  }
  for (int i = 0; i < writing.messages; ++i) {
    if (!add_named(**store, name_of(writing.round, writing.writer, i), writing.bytes)) {
      return 2;
    }
    const KnownMessage known{writing.writer, i + 1};
    if (writing.acknowledged >= 0 &&
        ::write(writing.acknowledged, &known, sizeof known) != sizeof known) {
      return 3;
    }
  }
  return 0;
}

Writers::Writers(const Kind& kind, const fs::path& location, int round) : round_(round) {
  auto [in, out] = open_pipe();
  acknowledged_ = std::move(in);
  for (int writer = 0; writer < kWriters; ++writer) {
    writers_.emplace_back([&, &to = out] {
      return write_as(kind, location, {.round = round, .writer = writer, .acknowledged = to.get()});
    });
  }
}

const Acknowledged& Writers::known() {
  KnownMessage one;
  while (::read(acknowledged_.get(), &one, sizeof one) == static_cast<ssize_t>(sizeof one)) {
    known_[{round_, one.writer}] = one.count;
  }
  return known_;
}

const Acknowledged& Writers::kill() {
  for (const Process& writer : writers_) {
    writer.signal(SIGKILL);
  }
  writers_.clear();
  return known();
}

std::string examine_named(const Kind& kind, const fs::path& location, int next,
                          const Acknowledged& known) {
  const Ended ended = in_process([&](const Print& /*print*/) -> std::string {
    const auto store = kind.open(location, {});
    if (!store) {
      return store.error().message;
    }
    const auto names = names_in(**store);
    if (!names) {
      return names.error().message;
    }
    if (std::string fault = check_named(*names, known); !fault.empty()) {
      return fault;
    }
    const auto added = add_named(**store, name_of(next, kWriters, 0), 0);
    return added ? "" : added.error().message;
  });
  return ended.output + ended.fault;
}

}  // namespace reprise::rel
