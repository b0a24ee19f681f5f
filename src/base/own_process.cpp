#include "base/own_process.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace reprise {
namespace {

std::atomic<std::uint64_t>& fork_count() {
  static std::atomic<std::uint64_t> count = 0;
  return count;
}

// If the handler cannot be registered for lack of memory, only the pid is compared.
std::uint64_t forks_so_far() {
  static const int registered =
      ::pthread_atfork(nullptr, nullptr, [] { fork_count().fetch_add(1); });
  (void)registered;
  return fork_count().load();
}

}  // namespace

OwnProcess::OwnProcess() : pid_(::getpid()), forks_(forks_so_far()) {}

bool OwnProcess::is_here() const {
  return forks_ == fork_count().load() && pid_ == ::getpid();
}

}  // namespace reprise
