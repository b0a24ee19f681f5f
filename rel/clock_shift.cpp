// Shifts the real-time clock of this process, or of one that this library is loaded into
// (LD_PRELOAD). Monotonic clocks are not changed, as when the clock is set.
//
// REL_CLOCK is the shift in seconds, "x100" for a clock a hundred times too fast that starts from a
// fixed recent time, or "jump" for one that is wrong differently for each call.

#include "clock_shift.h"

#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace reprise::rel {
namespace {

constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kYear = 365 * kDay;
constexpr std::array<std::int64_t, 5> kJumps = {0, -40 * kDay, 11 * kYear, 3600, 80 * kYear};
// The time at which the fast clock and the right one agree.
constexpr std::int64_t kFastSince = 1'795'000'000;

std::atomic<const char*> mode = nullptr;
std::atomic<unsigned> calls = 0;

std::int64_t shifted(std::int64_t second) {
  const char* now = mode.load();
  if (now == nullptr) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): not changed.
    now = ::getenv("REL_CLOCK");
    mode = now == nullptr ? "0" : now;
  }
  const std::string_view text = mode.load();
  if (text == "x100") {
    return kFastSince + (second - kFastSince) * 100;
  }
  if (text == "jump") {
    return second + kJumps.at(++calls % kJumps.size());
  }
  return second + ::strtoll(mode.load(), nullptr, 10);
}

}  // namespace

void set_clock(const char* how) {
  mode = how;
}

}  // namespace reprise::rel

// Parameter names differ from those of the C library.
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
extern "C" {

int clock_gettime(clockid_t which, struct timespec* out) noexcept {
  const long done = ::syscall(SYS_clock_gettime, which, out);
  if (done == 0 && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) {
    out->tv_sec = reprise::rel::shifted(out->tv_sec);
  }
  return static_cast<int>(done);
}

int gettimeofday(struct timeval* out, void* /*zone*/) noexcept {
  timespec now{};
  (void)clock_gettime(CLOCK_REALTIME, &now);
  *out = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* out) noexcept {
  timespec now{};
  (void)clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) {
    *out = now.tv_sec;
  }
  return now.tv_sec;
}
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
