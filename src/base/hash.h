#pragma once

// A fast hash, the same on every machine and in every version, so that it may be stored. Not
// collision-resistant against attackers: use sha256() (base/encode.h) for that.

#include <cstdint>
#include <string_view>

namespace reprise {

inline constexpr std::uint64_t kFnvOffset = 0xcbf29ce484222325U;

// FNV-1a. A different `offset` gives an independent hash.
constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t offset = kFnvOffset) {
  std::uint64_t hash = offset;
  for (const char c : bytes) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash;
}

}  // namespace reprise
