#pragma once

// JSON for people: one member or element a line, the spelling of numbers and strings kept. And the
// way back.

#include "reprise/error.h"

namespace reprise::json {

enum class KeyOrder : std::uint8_t { as_written, by_bytes };

struct PrettyOptions {
  int indent = 2;
  KeyOrder order = KeyOrder::as_written;
  int depth = 0;  // how many levels more the lines after the first are indented
};

// `[]` and `{}` stand on one line; there is no line end after the last line. Keys are written
// anew, everything else as it was. corrupt for what is no JSON value.
Result<std::string> pretty(std::string_view json, PrettyOptions options = {});

// A JSON value without the blanks and line ends between its parts; all else is as it was.
std::string compact(std::string_view validated);

}  // namespace reprise::json
