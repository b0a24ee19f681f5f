#pragma once

// JSON for people: one member or element a line, the spelling of numbers and strings kept.

#include <cstdint>
#include <string>
#include <string_view>

#include "reprise/error.h"

namespace reprise::json {

enum class KeyOrder : std::uint8_t { as_written, by_bytes };

struct PrettyOptions {
  int indent = 2;
  KeyOrder order = KeyOrder::as_written;
};

// `[]` and `{}` stand on one line; there is no line end after the last line. Keys are written
// anew, everything else as it was. corrupt for what is no JSON value.
Result<std::string> pretty(std::string_view json, PrettyOptions options = {});

}  // namespace reprise::json
