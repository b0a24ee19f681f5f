#pragma once

// Pretty-printing JSON, with one member or element per line and the spelling of numbers and strings
// preserved; and the inverse.

#include "reprise/error.h"

namespace reprise::json {

enum class KeyOrder : std::uint8_t { as_written, by_bytes };

struct PrettyOptions {
  int indent = 2;
  KeyOrder order = KeyOrder::as_written;
  int depth = 0;  // additional indentation levels for all lines but the first
};

// `[]` and `{}` are printed on one line; there is no line end after the last line. Keys are
// re-escaped, everything else is preserved. corrupt for malformed JSON.
Result<std::string> pretty(std::string_view json, PrettyOptions options = {});

// A JSON value without whitespace between tokens, otherwise unchanged.
std::string compact(std::string_view validated);

}  // namespace reprise::json
