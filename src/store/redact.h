#pragma once

// Removes secret headers from archives.

#include <string>
#include <string_view>

namespace reprise::store {

// The artefact with a provider's raw response to a turn, including its headers.
inline constexpr std::string_view kResponseFile = "response.json";

// The JSON with "[redacted]" instead of the values of secret headers (recognized by name, see
// base/secret_name.h), as members ("cookie": …), as pairs (["cookie", …]) and in flat lists; of
// strings in other members with such names ("api_key": "…"); and of "Bearer …" anywhere. All other
// bytes are unchanged, even in text that is not JSON.
std::string redact_headers(std::string_view json);

}  // namespace reprise::store
