#include "e2e/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <vector>

#include "base/file.h"

namespace reprise::e2e {
namespace {

constexpr int kPatienceMs = 60'000;

}  // namespace

ChildProcess::ChildProcess(std::vector<std::string> arguments) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return;  // appears as a child without output
  }
  output_ = Fd(ends[0]);
  const Fd input(ends[1]);
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) {
    pointers.push_back(argument.data());
  }
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input.get(), STDOUT_FILENO);
  if (::posix_spawn(&pid_, pointers[0], &actions, nullptr, pointers.data(), environ) != 0) {
    pid_ = -1;
  }
  ::posix_spawn_file_actions_destroy(&actions);
}

ChildProcess::~ChildProcess() {
  kill();
  (void)wait();  // the exit status is not needed any more
}

bool ChildProcess::fill() {
  pollfd watched{output_.get(), POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&watched, 1, kPatienceMs);
  } while (ready < 0 && errno == EINTR);
  std::array<char, 65536> piece;
  const ssize_t got = ready > 0 ? ::read(output_.get(), piece.data(), piece.size()) : 0;
  if (got <= 0) {
    return false;
  }
  buffer_.append(piece.data(), static_cast<std::size_t>(got));
  return true;
}

std::optional<std::string> ChildProcess::line() {
  auto end = buffer_.find('\n');
  while (end == std::string::npos) {
    if (!fill()) {
      return std::nullopt;
    }
    end = buffer_.find('\n');
  }
  std::string out = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return out;
}

void ChildProcess::kill() const {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
  }
}

int ChildProcess::wait() {
  if (pid_ <= 0) {
    return -1;
  }
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace reprise::e2e
