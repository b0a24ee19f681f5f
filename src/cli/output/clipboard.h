#pragma once

// Access to the user's clipboard through the terminal, which also works over ssh.

#include "base/encode.h"
#include "base/text.h"  // IWYU pragma: export

namespace reprise::cli {

inline constexpr std::size_t kCopyBytesMax = 74'994;  // xterm's limit, before base64

// The escape sequence OSC 52. Many terminals must be configured to accept it; none responds.
inline std::string copy_sequence(std::string_view text) {
  return cat("\x1b]52;c;", base64_encode(text), "\a");
}

}  // namespace reprise::cli
