#pragma once

// Reading one known field of a JSON object. A value of another type than expected is not lost: it
// goes to the object's extra fields.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json_scan.h"
#include "reprise/json.h"

namespace reprise::model {

bool keep(json::Scanner& scanner, std::string_view name, Extra& extra);
bool read_or_keep(json::Scanner& scanner, std::string_view name, std::string& out, Extra& extra);
bool read_or_keep(json::Scanner& scanner, std::string_view name, std::int64_t& out, Extra& extra);

}  // namespace reprise::model
