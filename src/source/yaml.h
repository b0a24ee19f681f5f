#pragma once

// Converts YAML to JSON with libyaml, which is loaded at the first call.

#include "reprise/types.h"

namespace reprise::source {

// The first document of the text. Aliases become null, as expanding them could exhaust memory.
// corrupt, with the line, for malformed YAML; unsupported when libyaml is not installed.
Result<RawJson> json_of_yaml(std::string_view text);

}  // namespace reprise::source
