#pragma once

// Unknown times, which are frequent in messages and sessions of other programs. They are Time{},
// the start of 1970, in every value, and null in JSON. They sort last where the newest come first,
// and are never displayed as a date. Where the format of a file requires a time, one beside it is
// written, and that it is unknown is noted in the sidecar.

#include <initializer_list>

#include "reprise/environment.h"
#include "reprise/message.h"  // IWYU pragma: export
#include "reprise/types.h"    // IWYU pragma: export

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

// The activity time of a session after these messages are appended: the time of the last one with a
// known time, else `before`.
inline Time activity_after(Time before, const std::vector<Message>& added) {
  for (auto message = added.rbegin(); message != added.rend(); ++message) {
    if (is_known(message->created_at)) {
      return message->created_at;
    }
  }
  return before;
}

}  // namespace reprise
