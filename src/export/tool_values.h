#pragma once

// Values that other tools' files require: ids in their form, times for every line, JSON on one
// line.

#include "reprise/message.h"
#include "reprise/session.h"

namespace reprise::exporting {

// Hex digits derived from the seed alone: exporting again gives the same ids.
std::string derived_hex(std::string_view seed, std::size_t digits);
// The lowest hex digits of a number, in the usual order.
std::string hex_digits(std::uint64_t number, std::size_t digits);
// A version 4 UUID made of derived_hex() digits.
std::string derived_uuid(std::string_view seed);
// The session's id if it is a UUID, else one derived from it.
std::string uuid_of(const Session& session);

// Escapes the characters in JSON that some programs treat as line ends.
std::string on_one_line(std::string_view json);

// "2026-01-18T20:15:30.123Z"
std::string iso_milliseconds(Time time);
std::int64_t milliseconds(Time time);

// Makes times monotonic: an earlier or missing time becomes the previous one.
class MonotonicTimes {
 public:
  explicit MonotonicTimes(const Session& session);
  Time next(Time time);

 private:
  Time last_;
};

// The arguments of a call as a JSON object on one line; anything else is wrapped: {"input":…}.
std::string input_object(const ToolUseBlock& call);
// The arguments of a call as text.
std::string input_text(const ToolUseBlock& call);

}  // namespace reprise::exporting
