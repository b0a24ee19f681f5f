#pragma once

// What the files of other tools need of a session and its messages: ids of their shape, times of
// every line, JSON on one line.

#include "reprise/session.h"

namespace reprise::exporting {

// Digits that follow from the seed alone: exporting again gives the same ids.
std::string derived_hex(std::string_view seed, std::size_t digits);
// A UUID of version 4 made of them.
std::string derived_uuid(std::string_view seed);
// The session's id when it is a UUID, else one that follows from it.
std::string uuid_of(const Session& session);

// JSON with the characters escaped that some programs take for line ends.
std::string on_one_line(std::string_view json);

// "2026-01-18T20:15:30.123Z"
std::string iso_milliseconds(Time time);
std::int64_t milliseconds(Time time);

// Times that never go back: a message without one has that of the one before it.
class Moments {
 public:
  explicit Moments(const Session& session);
  Time next(Time time);

 private:
  Time last_;
};

// What a call was given: as a JSON object on one line ({"input":…} for anything else)…
std::string input_object(const ToolUseBlock& call);
// …or as the text that the model wrote.
std::string input_text(const ToolUseBlock& call);

}  // namespace reprise::exporting
