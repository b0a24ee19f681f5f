#include "program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>  // NOLINT(misc-include-cleaner): rlimit
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace reprise::rel {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{20};

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (const std::string& word : words) {
    out.push_back(const_cast<char*>(word.c_str()));  // execve() changes nothing
  }
  out.push_back(nullptr);
  return out;
}

struct Pipe {
  Fd reading;
  Fd writing;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  return {Fd(ends[0]), Fd(ends[1])};
}

// `reading` is the user's side, `writing` the program's.
Pipe make_terminal() {
  std::array<char, 100> name{};
  Fd outside(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (::grantpt(outside.get()) != 0 || ::unlockpt(outside.get()) != 0 ||
      ::ptsname_r(outside.get(), name.data(), name.size()) != 0) {
    throw std::runtime_error("no terminal");
  }
  Fd inside(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  const winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  ::ioctl(inside.get(), TIOCSWINSZ, &size);
  return {std::move(outside), std::move(inside)};
}

// In the child: makes it the controlling terminal.
void use_terminal(int terminal) {
  ::setsid();
  ::ioctl(terminal, TIOCSCTTY, 0);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::dup2(terminal, fd);
  }
}

// In the child: opens the file as `fd`.
void use_file(int fd, const char* path, int flags) {
  const int file = ::open(path, flags, 0600);
  if (file < 0) {
    ::_exit(127);
  }
  ::dup2(file, fd);
}

void limit_memory(std::size_t bytes) {
  const rlimit most{bytes, bytes};
  if (bytes > 0) {
    ::setrlimit(RLIMIT_AS, &most);
  }
}

// A signal for the whole process is pending until one of its threads has received it.
bool has_pending_signal(pid_t pid) {
  std::ifstream status(cat("/proc/", pid, "/status"));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("State:") && line.contains('Z')) {
      return false;
    }
    if (line.starts_with("ShdPnd:")) {
      return line.find_first_not_of("0\t ", 7) != std::string::npos;
    }
  }
  return false;
}

}  // namespace

Program::Program(const Start& start) {
  Pipe out = start.on_terminal ? make_terminal() : make_pipe();
  Pipe in = make_pipe();
  std::vector<std::string> environment = {cat("HOME=", start.home.native()), "PATH=/usr/bin:/bin",
                                          "LC_ALL=C.UTF-8", "TERM=xterm-256color"};
  environment.insert(environment.end(), start.environment.begin(), start.environment.end());
  const std::vector<char*> arguments = pointers(start.words);
  const std::vector<char*> variables = pointers(environment);
  const std::string err = start.home / "err";
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
    // A background process ignores some signals, and the program would inherit that. All of these
    // can be reset.
    (void)::signal(signal, SIG_DFL);
  }
  pid_ = ::fork();
  if (pid_ == 0) {
    limit_memory(start.memory_max);
    if (start.on_terminal) {
      use_terminal(out.writing.get());
    } else {
      use_file(STDIN_FILENO, "/dev/null", O_RDONLY);
      use_file(STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
      if (start.waits_for_input) {
        ::dup2(in.reading.get(), STDIN_FILENO);
      }
      ::dup2(out.writing.get(), STDOUT_FILENO);
    }
    if (::chdir(start.home.c_str()) == 0) {
      ::execve(arguments[0], arguments.data(), variables.data());
    }
    ::_exit(127);
  }
  if (pid_ < 0) {
    throw std::runtime_error("no process");
  }
  out_ = std::move(out.reading);
  in_ = std::move(in.writing);
}

Program::~Program() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

bool Program::read_some(steady_clock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
  pollfd wait{out_.get(), POLLIN, 0};
  if (left.count() <= 0 || ::poll(&wait, 1, static_cast<int>(left.count())) <= 0) {
    return false;
  }
  std::array<char, 65536> piece{};
  const ssize_t got = ::read(out_.get(), piece.data(), piece.size());
  has_closed_ = got == 0 || (got < 0 && errno != EINTR);
  shown_.append(piece.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  return !has_closed_;
}

bool Program::read_until(const Enough& enough) {
  const auto deadline = steady_clock::now() + kPatience;
  while (!enough(shown_)) {
    if (!read_some(deadline)) {
      return false;
    }
  }
  return true;
}

void Program::type(std::string_view keys) const {
  (void)write_all(out_.get(), keys, "the terminal");  // fails if the program has ended
}

bool Program::read_until_quiet(std::chrono::milliseconds pause) {
  while (read_some(steady_clock::now() + pause)) {
  }
  return !has_closed_;
}

void Program::signal(int number) const {
  ::kill(pid_, number);
  eventually([this] { return !has_pending_signal(pid_); });
}

int Program::wait() {
  read_until([](std::string_view /*shown*/) { return false; });
  if (!has_closed_) {
    ::kill(pid_, SIGKILL);
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  if (!has_closed_) {
    return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Finished run_program(const Start& start) {
  Program program(start);
  Finished out;
  out.code = program.wait();
  out.shown = program.shown();
  return out;
}

bool eventually(const std::function<bool()>& is_so) {
  const auto deadline = steady_clock::now() + std::chrono::seconds(5);
  while (!is_so()) {
    if (steady_clock::now() > deadline) {
      return false;
    }
    ::poll(nullptr, 0, 1);
  }
  return true;
}

}  // namespace reprise::rel
