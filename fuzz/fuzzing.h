#pragma once

// Common to all fuzzers: a fault is reported in one line, then the process aborts, and libFuzzer
// saves the input.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace reprise::fuzz {

inline void require(bool holds, std::string_view what) {
  if (!holds) {
    std::fprintf(stderr, "%s\n", std::string(what).c_str());
    std::abort();
  }
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace reprise::fuzz

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
