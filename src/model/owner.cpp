#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/text.h"
#include "reprise/session.h"

namespace reprise {
namespace {

// proc(5): field 22 of /proc/<pid>/stat is the start time in clock ticks after boot. The command
// in field 2 may hold blanks and parentheses, so counting begins after the last ')'. 0 for a
// process that has ended, also while its parent has not asked for its exit code: state Z, and no
// thread but the first is left.
std::int64_t started_ticks(std::int64_t pid) {
  const auto stat = read_file(cat("/proc/", pid, "/stat"));
  if (!stat) {
    return 0;
  }
  std::string_view rest = std::string_view(*stat).substr(stat->rfind(')') + 1);
  bool ended = false;
  for (int field = 3; field <= 22; ++field) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    const std::string_view value = rest.substr(0, rest.find(' '));
    if (field == 3) {
      ended = value == "Z";
    }
    if (field == 20 && ended && value == "1") {
      return 0;
    }
    if (field == 22) {
      std::int64_t ticks = 0;
      std::from_chars(value.data(), value.data() + value.size(), ticks);
      return ticks;
    }
    rest.remove_prefix(value.size());
  }
  return 0;
}

std::string host_and_boot() {
  std::array<char, 256> name{};
  std::string out =
      ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "localhost";
  if (const auto boot = read_file("/proc/sys/kernel/random/boot_id"); boot) {
    out += cat("/", trimmed(*boot));
  }
  return out;
}

}  // namespace

Owner this_process() {
  const std::int64_t pid = ::getpid();
  return {host_and_boot(), pid, started_ticks(pid)};
}

bool is_alive(const Owner& owner) {
  const std::string here = host_and_boot();
  if (owner.host != here) {
    // The same machine after a restart: what ran then is gone. Another machine: cannot tell.
    const auto name = [](std::string_view host) { return host.substr(0, host.find('/')); };
    return name(owner.host) != name(here);
  }
  if (::kill(static_cast<pid_t>(owner.pid), 0) != 0 && errno == ESRCH) {
    return false;
  }
  return started_ticks(owner.pid) == owner.started;
}

}  // namespace reprise
