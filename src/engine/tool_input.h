#pragma once

// Converts the input of a tool call from the model's text to what can be sent and run.

#include <optional>

#include "reprise/types.h"

namespace reprise {

// The input as the model wrote it: JSON, or a JSON string with text that is not JSON. "" is an
// empty object.
RawJson input_from_text(std::string_view text);

// The object that a tool can be run with: {} for null; a JSON string may contain one. nullopt
// otherwise.
std::optional<RawJson> runnable_input(const RawJson& input);

// An object, as providers require: the runnable one, or {"_raw": …} around anything else.
RawJson input_object(const RawJson& input);

bool is_object(const RawJson& input);

}  // namespace reprise
