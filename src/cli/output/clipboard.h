#pragma once

// The clipboard of the person's machine, which only the terminal can reach, also over ssh.

#include "base/encode.h"
#include "base/text.h"  // IWYU pragma: export

namespace reprise::cli {

inline constexpr std::size_t kCopyBytesMax = 74'994;  // what xterm takes, as base64

// OSC 52: what the terminal is told. Many terminals want a setting for it, and none answers.
inline std::string copy_sequence(std::string_view text) {
  return cat("\x1b]52;c;", base64_encode(text), "\a");
}

}  // namespace reprise::cli
