#include "network.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace reprise::rel {
namespace {

bool is_watching = false;
NetworkTrap trap_set;
std::int64_t calls = 0;

enum class CallOutcome : std::uint8_t { made, made_and_last, failed };

// The outcome of the next call.
CallOutcome call_outcome() {
  if (!is_watching) {
    return CallOutcome::made;
  }
  ++calls;
  if (trap_set.lasting && calls > trap_set.at) {
    return CallOutcome::failed;
  }
  if (calls != trap_set.at) {
    return CallOutcome::made;
  }
  switch (trap_set.what) {
    case NetworkTrap::What::kill:
      ::kill(::getpid(), SIGKILL);
      return CallOutcome::failed;
    case NetworkTrap::What::break_before:
      return CallOutcome::failed;
    case NetworkTrap::What::break_after:
      return CallOutcome::made_and_last;
    case NetworkTrap::What::nothing:
      break;
  }
  return CallOutcome::made;
}

template <class Call>
auto run(int socket, Call call) {
  const CallOutcome what = call_outcome();
  if (what == CallOutcome::failed) {
    ::shutdown(socket, SHUT_RDWR);
    errno = ECONNRESET;
    return decltype(call()){-1};
  }
  const auto done = call();
  if (what == CallOutcome::made_and_last) {
    ::shutdown(socket, SHUT_RDWR);
  }
  return done;
}

}  // namespace

void watch_network(const NetworkTrap& trap) {
  trap_set = trap;
  calls = 0;
  is_watching = true;
}

void unwatch_network() {
  is_watching = false;
}

std::int64_t network_calls() {
  return calls;
}

}  // namespace reprise::rel

// These replace the C library's functions, whose parameters have reserved names.
// NOLINTBEGIN(misc-use-internal-linkage,readability-inconsistent-declaration-parameter-name)
extern "C" {

ssize_t send(int socket, const void* bytes, std::size_t count, int flags) {
  return reprise::rel::run(socket, [&] {
    return ssize_t{::syscall(SYS_sendto, socket, bytes, count, flags, nullptr, 0)};
  });
}

ssize_t recv(int socket, void* bytes, std::size_t count, int flags) {
  return reprise::rel::run(socket, [&] {
    return ssize_t{::syscall(SYS_recvfrom, socket, bytes, count, flags, nullptr, nullptr)};
  });
}

int connect(int socket, const sockaddr* address, socklen_t length) {
  return reprise::rel::run(
      socket, [&] { return static_cast<int>(::syscall(SYS_connect, socket, address, length)); });
}
}
// NOLINTEND(misc-use-internal-linkage,readability-inconsistent-declaration-parameter-name)
