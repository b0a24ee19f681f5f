#include "trial.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <exception>

#include "base/file.h"
#include "base/text.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

// The child's side.
[[noreturn]] void run(const std::function<std::string(const Print&)>& trial, int out) {
  const Print print = [out](std::string_view text) {
    if (!write_all(out, text, "the pipe")) {
      ::_exit(1);  // the parent is gone
    }
  };
  try {
    print(trial(print));
  } catch (const std::exception& error) {
    print(cat("an exception: ", error.what()));
  }
  ::_exit(0);
}

// Reads until the other end closes; false if the deadline passes before.
bool read_until(int in, steady_clock::time_point deadline, std::string& out) {
  std::array<char, 65536> piece{};
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
    pollfd wait{in, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&wait, 1, static_cast<int>(left.count())) == 0) {
      return false;
    }
    const ssize_t got = ::read(in, piece.data(), piece.size());
    if (got == 0 || (got < 0 && errno != EINTR)) {
      return true;
    }
    out.append(piece.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  }
}

}  // namespace

Ended in_process(const std::function<std::string(const Print&)>& trial,
                 std::chrono::seconds limit) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return {.output = {}, .fault = "no pipe"};
  }
  const Fd in(pipe[0]);
  Fd out(pipe[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    run(trial, out.get());
  }
  out = Fd();
  if (child < 0) {
    return {.output = {}, .fault = "no process"};
  }
  Ended ended;
  const bool in_time = read_until(in.get(), steady_clock::now() + limit, ended.output);
  if (!in_time) {
    ::kill(child, SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!in_time) {
    ended.fault = cat("no end after ", limit.count(), " s");
  } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    ended.killed = true;
  } else if (WIFSIGNALED(status)) {
    ended.fault = cat("signal ", WTERMSIG(status));
  }
  return ended;
}

void copy_folder(const fs::path& from, const fs::path& to) {
  fs::remove_all(to);
  fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
}

WorkFolder::WorkFolder()
    : TemporaryFolder(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : fs::temp_directory_path()) {}

}  // namespace reprise::rel
