#pragma once

// A quick hash of bytes, the same on every machine and in every version: what it names may be
// stored. Against people who look for collisions it is no help; sha256() is (base/encode.h).

#include <cstdint>
#include <string_view>

namespace reprise {

inline constexpr std::uint64_t kFnvOffset = 0xcbf29ce484222325U;

// FNV-1a. Another `offset` makes another hash.
constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t offset = kFnvOffset) {
  std::uint64_t hash = offset;
  for (const char c : bytes) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash;
}

}  // namespace reprise
