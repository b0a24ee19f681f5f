#include "cli/program/interrupts.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

#include "cli/process/process.h"

namespace reprise::cli {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

// State of the signal handler: the pipe's write end, the signal received, and the count.
std::atomic<int> wake_fd{-1};
std::atomic<int> received{0};
std::atomic<int> times{0};
std::atomic<int> times_max{1};
static_assert(std::atomic<int>::is_always_lock_free);

void on_signal(int signal) {
  if (times.fetch_add(1) >= times_max.load()) {
    ::_exit(static_cast<int>(Exit::interrupted));
  }
  if (const int before = received.load(); before == 0 || before == SIGINT) {
    received = signal;
  }
  const int saved_errno = errno;
  const char byte = 1;
  // If the pipe is full, the reader wakes up anyway.
  (void)!::write(wake_fd.load(), &byte, 1);
  errno = saved_errno;
}

}  // namespace

// A thread reads the pipe, because request_stop() is not async-signal-safe.
class Interrupts::Impl {
 public:
  explicit Impl(int signals_max) {
    if (::pipe2(pipe_.data(), O_CLOEXEC) != 0) {
      return;  // without the pipe the signals keep their default action
    }
    received = 0;
    times = 0;
    times_max = signals_max;
    wake_fd = pipe_[1];
    set_interrupt_token(source_.get_token());
    watcher_ = std::thread([this] { watch(); });
    struct sigaction action{};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      installed_ = ::sigaction(kSignals.at(i), &action, &before_.at(i)) == 0;
    }
  }

  ~Impl() {
    if (!watcher_.joinable()) {
      return;
    }
    set_interrupt_token({});
    for (std::size_t i = 0; installed_ && i < kSignals.size(); ++i) {
      ::sigaction(kSignals.at(i), &before_.at(i), nullptr);
    }
    const char byte = 0;
    (void)!::write(pipe_[1], &byte, 1);  // cannot block: the pipe has room
    watcher_.join();
    wake_fd = -1;
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::stop_token token() {
    const std::lock_guard lock(mutex_);
    return source_.get_token();
  }

  void reset() {
    const std::lock_guard lock(mutex_);
    received = 0;
    times = 0;
    source_ = std::stop_source();
    set_interrupt_token(source_.get_token());
  }

 private:
  void watch() {
    for (;;) {
      char byte = 0;
      const ssize_t count = ::read(pipe_[0], &byte, 1);
      if (count < 0 && errno == EINTR) {
        continue;
      }
      if (count <= 0 || byte == 0) {
        return;
      }
      source().request_stop();  // unlocked: runs the stop callbacks
    }
  }

  std::stop_source source() {
    const std::lock_guard lock(mutex_);
    return source_;
  }

  std::array<int, 2> pipe_{-1, -1};
  std::array<struct sigaction, kSignals.size()> before_{};
  bool installed_ = false;
  std::mutex mutex_;
  std::stop_source source_;
  std::thread watcher_;
};

Interrupts::Interrupts(int signals_max) : impl_(std::make_unique<Impl>(signals_max)) {}
Interrupts::~Interrupts() = default;

std::stop_token Interrupts::token() const {
  return impl_->token();
}

int Interrupts::signal() const {
  return received;
}

int Interrupts::count() const {
  return times;
}

void Interrupts::reset() {
  impl_->reset();
}

}  // namespace reprise::cli
