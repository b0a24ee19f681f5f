#pragma once

// Unknown times, which are frequent in messages and sessions of other programs. They are Time{},
// the start of 1970, in every value, and null in JSON. They sort last where the newest come first,
// and are never displayed as a date. Where the format of a file requires a time, one beside it is
// written, and that it is unknown is noted in the sidecar.

#include <initializer_list>
#include <utility>

#include "reprise/environment.h"
#include "reprise/message.h"  // IWYU pragma: export
#include "reprise/session.h"
#include "reprise/types.h"  // IWYU pragma: export

namespace reprise {

inline constexpr Time kUnknownTime{};

inline bool is_known(Time time) {
  return time != kUnknownTime;
}

// The first of the times that is known, else the current time: for formats that require one.
inline Time known_time(std::initializer_list<Time> times) {
  for (const Time time : times) {
    if (is_known(time)) {
      return time;
    }
  }
  return system_clock().now();
}

// The times of a session's last append, as SessionInfo has them.
struct Activity {
  Time updated_at = {};
  std::optional<Time> arrived_at = {};
};

// Notes in the session that these messages are appended: the time of the last one with a known
// time, and `now`, if given, if that is earlier (see AppendOptions::now).
template <class Info>
void note_activity(Info& info, const std::vector<Message>& added, std::optional<Time> now) {
  for (auto message = added.rbegin(); message != added.rend(); ++message) {
    if (is_known(message->created_at)) {
      info.updated_at = message->created_at;
      info.arrived_at = now && *now < info.updated_at ? now : std::nullopt;
      return;
    }
  }
}

// Without one that says nothing.
inline std::optional<Time> known_arrival(const SessionInfo& info) {
  return activity_of(info) < info.updated_at ? info.arrived_at : std::nullopt;
}

// Databases have the activity by which sessions are listed in the column of `updated_at`, and a
// later `updated_at` in that of `arrived_at`. Converts to and from that.
template <class Info>
void exchange_activity(Info& info) {
  if (info.arrived_at) {
    std::swap(info.updated_at, *info.arrived_at);
  }
}

}  // namespace reprise
