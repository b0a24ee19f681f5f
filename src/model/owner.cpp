#include "model/owner.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

#include "base/file.h"
#include "base/text.h"
#include "reprise/session.h"

namespace reprise {
namespace {

// How long to respect an answer on another host that was started by a version without leases.
constexpr std::chrono::hours kUnleasedMax{1};

std::string host_and_boot() {
  std::array<char, 256> name{};
  std::string out =
      ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "localhost";
  if (const auto boot = read_file("/proc/sys/kernel/random/boot_id"); boot) {
    out += cat("/", trimmed(*boot));
  }
  return out;
}

std::string_view name_of(std::string_view host) {
  return host.substr(0, host.find('/'));
}

std::string_view boot_of(std::string_view host) {
  return host.substr(std::min(host.find('/'), host.size()));
}

// 0 without /proc.
std::int64_t own_pid_namespace() {
  struct stat status{};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? static_cast<std::int64_t>(status.st_ino) : 0;
}

// For a pid of this process's namespace. If it cannot be inspected, it is not known to have ended.
bool has_ended(std::int64_t pid, std::int64_t started) {
  if (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) {
    return true;
  }
  const auto ticks = started_ticks(pid);
  return ticks && *ticks != started;
}

bool is_within(std::chrono::microseconds age, std::chrono::microseconds length) {
  return age < length && -age < length;
}

OwnerState alive_if(bool alive, OwnerState otherwise) {
  return alive ? OwnerState::alive : otherwise;
}

// The rules of versions without leases, except for kUnleasedMax.
OwnerState state_without_lease(const Owner& owner, const Lease& now, std::string_view here) {
  if (owner.host == here) {
    return alive_if(!has_ended(owner.pid, owner.started), OwnerState::gone);
  }
  if (name_of(owner.host) == name_of(here)) {
    return OwnerState::gone;  // the same machine before a reboot
  }
  return alive_if(is_within(now.renewed_at - owner.lease.renewed_at, kUnleasedMax),
                  OwnerState::silent);
}

}  // namespace

// proc(5): the command in field 2 may contain blanks and parentheses, so fields are counted after
// the last ')'. A process that has ended is in state Z with one thread.
std::optional<std::int64_t> started_ticks(std::int64_t pid) {
  const auto stat = read_file(cat("/proc/", pid, "/stat"));
  if (!stat) {
    return std::nullopt;
  }
  std::string_view tail = std::string_view(*stat).substr(stat->rfind(')') + 1);
  bool ended = false;
  for (int field = 3; field <= 22; ++field) {
    tail.remove_prefix(std::min(tail.find_first_not_of(' '), tail.size()));
    const std::string_view value = tail.substr(0, tail.find(' '));
    if (field == 3) {
      ended = value == "Z";
    }
    if (field == 20 && ended && value == "1") {
      return 0;
    }
    if (field == 22) {
      return parse_number<std::int64_t>(value).value_or(0);
    }
    tail.remove_prefix(value.size());
  }
  return 0;
}

Lease new_lease(std::chrono::milliseconds length) {
  using std::chrono::duration_cast;
  using std::chrono::microseconds;
  return {
      .renewed_at = std::chrono::floor<microseconds>(std::chrono::system_clock::now()),
      .uptime = duration_cast<microseconds>(std::chrono::steady_clock::now().time_since_epoch()),
      .length = length};
}

Owner this_process(std::chrono::milliseconds lease) {
  const std::int64_t pid = ::getpid();
  return {.host = host_and_boot(),
          .pid = pid,
          .started = started_ticks(pid).value_or(0),
          .pid_namespace = own_pid_namespace(),
          .lease = new_lease(lease)};
}

OwnerState state_of(const Owner& owner) {
  return state_of(owner, new_lease());
}

OwnerState state_of(const Owner& owner, const Lease& now) {
  const std::string here = host_and_boot();
  if (owner.lease.length.count() == 0) {
    return state_without_lease(owner, now, here);
  }
  // A boot id identifies a kernel, shared by its containers under different host names.
  const bool is_this_boot =
      !boot_of(here).empty() ? boot_of(owner.host) == boot_of(here) : owner.host == here;
  if (is_this_boot && owner.pid_namespace != 0 && owner.pid_namespace == own_pid_namespace() &&
      has_ended(owner.pid, owner.started)) {
    return OwnerState::gone;
  }
  const std::chrono::microseconds age =
      is_this_boot ? now.uptime - owner.lease.uptime : now.renewed_at - owner.lease.renewed_at;
  return alive_if(is_within(age, owner.lease.length), OwnerState::silent);
}

std::chrono::milliseconds grace_period_for(const Lease& lease) {
  return (lease.length.count() > 0 ? lease.length : kAnswerLease) / 4;
}

}  // namespace reprise
