#include "session/retention.h"

#include <fcntl.h>
#include <time.h>

#include <chrono>
#include <span>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "reprise/sessions.h"

namespace reprise {
namespace {

constexpr std::string_view kClockFile = "clock.json";
constexpr std::int64_t kClockBytesMax = 4096;
constexpr std::chrono::hours kDrift{1};  // the maximum deviation between two clocks of a machine
constexpr std::chrono::hours kRecordInterval{12};

struct ClockRecord {
  ClockReading last;
  // Time has passed plausibly since then; nullopt: always.
  std::optional<Time> doubted_at;
};

std::optional<ClockRecord> read_clock_record(const std::filesystem::path& file) {
  const auto text = read_file(file, kClockBytesMax);
  if (!text) {
    return std::nullopt;
  }
  json::Scanner scanner(*text);
  ClockRecord out;
  std::optional<Time> time;
  const bool read = scanner.object([&](std::string_view name) {
    std::string value;
    if (name == "uptime_s") {
      return scanner.integer(out.last.uptime_s);
    }
    if (!scanner.string(value)) {
      return false;
    }
    if (name == "time") {
      time = parse_time(value);
    } else if (name == "boot") {
      out.last.boot = value;
    } else if (name == "doubted_at") {
      out.doubted_at = parse_time(value);
    }
    return true;
  });
  if (!read || !time) {
    return std::nullopt;
  }
  out.last.time = *time;
  return out;
}

// Neither synced nor atomic: after a loss, the clock is trusted again, and the next call writes it.
Result<> write_clock_record(const std::filesystem::path& file, const ClockRecord& record) {
  std::string out;
  json::ObjectWriter object(out);
  object.field("time", format_time(record.last.time))
      .field("boot", record.last.boot)
      .field("uptime_s", record.last.uptime_s);
  if (record.doubted_at) {
    object.field("doubted_at", format_time(*record.doubted_at));
  }
  object.close();
  out += '\n';
  REPRISE_TRY(make_private_folders(folder_of(file)));
  REPRISE_ASSIGN(Fd fd, open_file(file, O_WRONLY | O_CREAT | O_TRUNC, 0600));
  REPRISE_TRY(write_all(fd.get(), out, file));
  return fd.close(file);
}

bool has_jumped(const ClockReading& previous, const ClockReading& now, std::chrono::hours age) {
  const auto elapsed = now.time - previous.time;
  if (previous.boot != now.boot) {
    return elapsed < -kDrift || elapsed > age;
  }
  const auto uptime = std::chrono::seconds(now.uptime_s - previous.uptime_s);
  return elapsed - uptime > kDrift || uptime - elapsed > kDrift;
}

ClockReading read_clock(Clock& clock) {
  // CLOCK_BOOTTIME includes time in suspend.
  timespec uptime{};
  (void)::clock_gettime(CLOCK_BOOTTIME, &uptime);  // available on Linux; otherwise uptime is 0
  const auto boot = read_file("/proc/sys/kernel/random/boot_id", kClockBytesMax);
  return {clock.now(), std::string(trimmed(boot.value_or(""))), uptime.tv_sec};
}

// The number of sessions moved: 0 if it was reopened or removed since it was listed.
Result<std::size_t> move_expired(Store& store, const SessionInfo& info, Clock& clock) {
  REPRISE_ASSIGN(const auto session, store.find(info.id));
  if (!session || session->info.state != SessionState::closed ||
      session->info.closed_at != info.closed_at) {
    return 0;
  }
  REPRISE_ASSIGN(const RemovedSessions removed,
                 remove_sessions(store, std::span(&session->info, 1), Removal::trash, {}, clock));
  return removed.failed.empty() ? Result<std::size_t>(removed.removed.size())
                                : std::unexpected(removed.failed.front().second);
}

}  // namespace

bool is_clock_trusted(const std::filesystem::path& state_folder, const ClockReading& now,
                      std::chrono::hours age) {
  const std::filesystem::path file = state_folder / kClockFile;
  const auto previous = read_clock_record(file);
  ClockRecord next{now, previous ? previous->doubted_at : std::nullopt};
  const bool jumped = previous && has_jumped(previous->last, now, age);
  if (jumped) {
    next.doubted_at = now.time;
  }
  if (!previous || jumped || now.time - previous->last.time > kRecordInterval ||
      previous->last.boot != now.boot) {
    // If the time cannot be recorded, the clock is trusted, as the user requested retention.
    (void)write_clock_record(file, next);
  }
  return !next.doubted_at || now.time - *next.doubted_at > age;
}

RetentionResult apply_retention(Store& store, std::chrono::hours age,
                                const std::filesystem::path& state_folder, Clock& clock) {
  RetentionResult result;
  if (store.capabilities().trash == nullptr) {
    return result;
  }
  const ClockReading now = read_clock(clock);
  if (!is_clock_trusted(state_folder, now, age)) {
    result.clock_jumped = true;
    return result;
  }
  const auto expired = find_closed_before(store, now.time - age);
  if (!expired) {
    result.error = expired.error();
    return result;
  }
  for (const SessionInfo& info : expired->sessions) {
    // Another program may have closed it while it was answering. A silent owner may still be alive.
    if (info.answering && state_of(*info.answering) != OwnerState::gone) {
      continue;
    }
    const auto moved = move_expired(store, info, clock);
    if (!moved && !result.error) {
      result.error = moved.error();
    }
    result.moved += moved.value_or(0);
  }
  return result;
}

}  // namespace reprise
