#pragma once

// The input of a tool call, from the model's text to what may be sent and run.

#include <optional>

#include "reprise/json.h"

namespace reprise {

// As the model wrote it: JSON, or a JSON string that holds what was not. "" is an empty object.
RawJson input_from_text(std::string_view text);

// The object a tool can run with: {} for null, and a JSON string may hold one. nullopt for all
// else.
std::optional<RawJson> runnable_input(const RawJson& input);

// An object, as providers demand it: the runnable one, or {"_raw": …} around what is none.
RawJson input_object(const RawJson& input);

bool is_object(const RawJson& input);

}  // namespace reprise
