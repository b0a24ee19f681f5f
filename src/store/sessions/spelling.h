#pragma once

// How the program that this format comes from spells JSON: pretty, two spaces, keys in byte order,
// strings with as few escapes as can be, floats as Erlang writes them. A signature is made over
// that spelling, whatever spelling the file has.

#include "reprise/error.h"

namespace reprise::store::sessions {

// Appends a quoted string. Bytes that are not UTF-8 become U+FFFD.
void append_string(std::string& out, std::string_view text);

// The shortest digits that read back as the same number, never without a point: "0.7", "1.05e-4",
// "100.0", "1.0e3". `number` must be finite.
std::string float_text(double number);

// The value as that program would write it, had it read it; lines after the first are indented by
// `depth` levels more. Of members with the same name the last one counts. Objects of more than 32
// members stay in their order: there, an Erlang map has an order of its own, and what it wrote has
// it too. corrupt for what is no JSON.
Result<std::string> respelled(std::string_view json, int depth = 0);

}  // namespace reprise::store::sessions
