#pragma once

// Base64 (RFC 4648, with padding) and hex; SHA-256, and the HMAC and PBKDF2 based on it, from
// OpenSSL's libcrypto, which is loaded at the first call.

#include <span>

#include "reprise/types.h"

namespace reprise {

std::string base64_encode(std::string_view bytes);
std::optional<std::string> base64_decode(std::string_view text);

std::string hex_encode(std::string_view bytes);

// unsupported when libcrypto is missing; so are the functions below.
Result<BlobHash> sha256(std::string_view bytes);

// 32 raw bytes (RFC 2104) over the concatenated pieces.
Result<std::string> hmac_sha256(std::string_view key, std::span<const std::string_view> pieces);

// 32 raw bytes (RFC 8018, section 5.2). Slow on purpose: 100,000 rounds cost tens of milliseconds.
Result<std::string> pbkdf2_sha256(std::string_view password, std::string_view salt, int rounds);

// Compares without leaking the position of a difference through timing.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace reprise
