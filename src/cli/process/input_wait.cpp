#include "cli/process/input_wait.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <stop_token>
#include <utility>

namespace reprise::cli {

InputWait::InputWait(std::stop_token stop)
    : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      callback_(std::move(stop), Wake{wake_.get()}) {}

void InputWait::Wake::operator()() const {
  // If this fails, the wait ends with the next byte instead.
  (void)::eventfd_write(fd, 1);
}

Ready InputWait::wait(int input_fd) const {
  while (true) {
    std::array<pollfd, 2> watched{{{input_fd, POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), -1) < 0) {
      if (errno == EINTR) {
        continue;
      }
      return Ready::closed;
    }
    if (watched[1].revents != 0) {
      return Ready::stopped;
    }
    if ((watched[0].revents & POLLNVAL) != 0) {
      return Ready::closed;
    }
    if (watched[0].revents != 0) {
      return Ready::input;
    }
  }
}

Ready InputWait::pause(std::chrono::milliseconds time, int output_fd) const {
  const auto until = std::chrono::steady_clock::now() + time;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    std::array<pollfd, 2> watched{{{output_fd, 0, 0}, {wake_.get(), POLLIN, 0}}};
    const int got = left.count() > 0
                        ? ::poll(watched.data(), watched.size(), static_cast<int>(left.count()))
                        : 0;
    if (got == 0) {
      return Ready::input;
    }
    if (got < 0 && errno == EINTR) {
      continue;
    }
    return got > 0 && watched[1].revents != 0 ? Ready::stopped : Ready::closed;
  }
}

}  // namespace reprise::cli
