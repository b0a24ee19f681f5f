#pragma once

// The JSON spelling of the program that defined this format: two spaces of indentation, keys in
// byte order, as few escapes as possible, floats as in Erlang. Signatures are made over that
// spelling, whatever the spelling of the file.

#include "reprise/error.h"

namespace reprise::store::sessions {

// Appends a quoted string. Invalid UTF-8 becomes U+FFFD.
void append_string(std::string& out, std::string_view text);

// The shortest digits that parse as the same number, always with a decimal point: "0.7", "1.05e-4",
// "100.0", "1.0e3". `number` must be finite.
std::string float_text(double number);

// The value as that program would write it after reading it; lines after the first are indented by
// `depth` additional levels. Of duplicate members, the last one is used. Objects of more than 32
// members are not sorted: an Erlang map of that size has an order of its own, which is that of the
// files it wrote. corrupt if it is not JSON.
Result<std::string> respelled(std::string_view json, int depth = 0);

}  // namespace reprise::store::sessions
