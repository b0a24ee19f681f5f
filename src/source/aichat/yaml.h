#pragma once

// YAML as JSON, by libyaml, which is loaded at the first call.

#include "reprise/json.h"

namespace reprise::source::aichat {

// The first document of the text. Aliases are null: what an alias repeats could be larger than
// memory. corrupt with the line for what is no YAML, unsupported when the library is missing.
Result<RawJson> json_of_yaml(std::string_view text);

}  // namespace reprise::source::aichat
