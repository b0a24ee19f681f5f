#pragma once

// Bytes as text: base64 (RFC 4648, with padding), hex, SHA-256.

#include <optional>
#include <string>
#include <string_view>

#include "reprise/error.h"
#include "reprise/types.h"

namespace reprise {

std::string base64_encode(std::string_view bytes);
std::optional<std::string> base64_decode(std::string_view text);

std::string hex_encode(std::string_view bytes);

// By OpenSSL's libcrypto, which is loaded at the first call; unsupported when it is missing.
Result<BlobHash> sha256(std::string_view bytes);

}  // namespace reprise
