#pragma once

// Times that nobody knows: messages and sessions of other programs often have none. They are the
// first moment of 1970, what a Time begins as, in every value and every file. They sort behind all
// others where the newest come first, are null in JSON and never shown as a date.

#include "reprise/message.h"

namespace reprise {

inline constexpr Time kUnknownTime{};

inline bool is_known(Time time) {
  return time != kUnknownTime;
}

// A session's time of activity when these messages are added: that of the last one that has a
// time, else what it was.
inline Time activity_after(Time before, const std::vector<Message>& added) {
  for (auto message = added.rbegin(); message != added.rend(); ++message) {
    if (is_known(message->created_at)) {
      return message->created_at;
    }
  }
  return before;
}

}  // namespace reprise
