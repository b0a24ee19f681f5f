#pragma once

// Base64 (RFC 4648, with padding) and hex; a fast hash; SHA-256, and the HMAC and PBKDF2 based on
// it, from OpenSSL's libcrypto, which is loaded at the first call.

#include <cstdint>  // IWYU pragma: export
#include <span>
#include <string_view>  // IWYU pragma: export

#include "reprise/types.h"

namespace reprise {

std::string base64_encode(std::string_view bytes);
std::optional<std::string> base64_decode(std::string_view text);

std::string hex_encode(std::string_view bytes);

// Encodes all bytes except letters, digits and "-._~", as in a part of a URL.
std::string percent_encoded(std::string_view text);

// Decodes "%20"; a '%' without two digits is unchanged.
std::string percent_decoded(std::string_view text);

// unsupported when libcrypto is missing; so are the functions below.
Result<BlobHash> sha256(std::string_view bytes);

// 32 raw bytes (RFC 2104) over the concatenated pieces.
Result<std::string> hmac_sha256(std::string_view key, std::span<const std::string_view> pieces);

// 32 raw bytes (RFC 8018, section 5.2). Slow on purpose: 100,000 rounds cost tens of milliseconds.
Result<std::string> pbkdf2_sha256(std::string_view password, std::string_view salt, int rounds);

// Compares without leaking the position of a difference through timing.
bool equal_in_constant_time(std::string_view a, std::string_view b);

// The fast hash: the same on every machine and in every version, so that it may be stored. Not
// collision-resistant against attackers: use sha256() for that.
inline constexpr std::uint64_t kFnvOffset = 0xcbf29ce484222325U;
inline constexpr std::uint64_t kFnvPrime = 0x100000001b3U;

// FNV-1a. A different `offset` gives an independent hash.
constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t offset = kFnvOffset) {
  std::uint64_t hash = offset;
  for (const char c : bytes) {
    hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime;
  }
  return hash;
}

// The 8 bytes of an FNV-1a hash of words instead of bytes, which is faster. It depends on the byte
// order, so it is for files of this machine only.
std::string hash_of_words(std::string_view bytes);

}  // namespace reprise
