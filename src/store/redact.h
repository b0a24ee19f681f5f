#pragma once

// Headers that are secrets do not leave with an archive.

#include <string>
#include <string_view>

namespace reprise::store {

// The artefact of a turn that holds a provider's answer as it came, headers included.
inline constexpr std::string_view kResponseFile = "response.json";

// The JSON with "[redacted]" in place of the values of headers that are secrets by their names
// (base/secret_name.h), as members ("cookie": …), as pairs (["cookie", …]) and in flat lists; of
// texts in other members with such names ("api_key": "…"); and of "Bearer …" anywhere.
// Everything else stays byte for byte, also in text that is no JSON any more.
std::string redact_headers(std::string_view json);

}  // namespace reprise::store
