#pragma once

// Unknown times, which are frequent in messages and sessions of other programs. They are Time{},
// the start of 1970, in every value and every file. They sort last where the newest come first, are
// null in JSON and never displayed as a date.

#include "reprise/message.h"

namespace reprise {

inline constexpr Time kUnknownTime{};

inline bool is_known(Time time) {
  return time != kUnknownTime;
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
