#include "terminal.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "measure.h"
#include "spawn.h"

namespace bench {
namespace {

constexpr int kPatience = 20'000;  // milliseconds

}  // namespace

Terminal::Terminal(const std::vector<std::string>& command,
                   const std::vector<std::string>& environment) {
  const std::vector<char*> arguments = pointers(command);
  const std::vector<char*> variables = pointers(environment);
  const winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  begin_ = Clock::now();
  pid_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
  require(pid_ >= 0, "no pseudo-terminal");
  if (pid_ == 0) {
    ::execve(arguments[0], arguments.data(), variables.data());
    ::_exit(127);
  }
}

Terminal::~Terminal() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  ::close(terminal_);
}

double Terminal::until(std::string_view text) {
  while (shown_.empty() || shown_.find(text) == std::string::npos) {
    require(read_some(kPatience), "the terminal does not show \"" + std::string(text) + "\"");
  }
  return micros_between(begin_, Clock::now()) / 1000;
}

double Terminal::until_end() {
  while (read_some(kPatience)) {
  }
  return micros_between(begin_, Clock::now()) / 1000;
}

void Terminal::settle(int milliseconds) {
  while (read_some(milliseconds)) {
  }
}

void Terminal::type(std::string_view keys) {
  shown_.clear();
  begin_ = Clock::now();
  require(::write(terminal_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()),
          "cannot type");
}

double Terminal::peak_mb() const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") {
      double kilobytes = 0;
      status >> kilobytes;
      return kilobytes / 1024;
    }
  }
  give_up("no memory is told");
}

bool Terminal::read_some(int milliseconds) {
  pollfd descriptor{terminal_, POLLIN, 0};
  if (::poll(&descriptor, 1, milliseconds) <= 0) {
    return false;
  }
  char bytes[65536];
  const ssize_t count = ::read(terminal_, bytes, sizeof bytes);
  if (count <= 0) {
    return false;  // it has ended
  }
  shown_.append(bytes, static_cast<std::size_t>(count));
  return true;
}

}  // namespace bench
