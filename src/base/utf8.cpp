#include "base/utf8.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace reprise::utf8 {
namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080U;

std::uint8_t byte_at(std::string_view text, std::size_t i) {
  return static_cast<std::uint8_t>(text[i]);
}

// The lead byte's sequence length and the range its second byte must be in (Unicode table 3-7).
struct Lead {
  std::size_t length;
  std::uint8_t second_min;
  std::uint8_t second_max;
};

Lead lead_of(std::uint8_t byte) {
  if (byte < 0x80) {
    return {1, 0, 0};
  }
  if (byte >= 0xC2 && byte <= 0xDF) {
    return {2, 0x80, 0xBF};
  }
  if (byte >= 0xE0 && byte <= 0xEF) {
    const std::uint8_t min = byte == 0xE0 ? 0xA0 : 0x80;
    const std::uint8_t max = byte == 0xED ? 0x9F : 0xBF;
    return {3, min, max};
  }
  if (byte >= 0xF0 && byte <= 0xF4) {
    const std::uint8_t min = byte == 0xF0 ? 0x90 : 0x80;
    const std::uint8_t max = byte == 0xF4 ? 0x8F : 0xBF;
    return {4, min, max};
  }
  return {0, 0, 0};
}

// The length of the ASCII prefix, in whole blocks.
std::size_t ascii_blocks(std::string_view bytes) {
  std::array<std::uint64_t, 4> block{};
  std::size_t at = 0;
  while (bytes.size() - at >= sizeof block) {
    std::memcpy(block.data(), bytes.data() + at, sizeof block);
    if (((block[0] | block[1] | block[2] | block[3]) & kHighBits) != 0) {
      break;
    }
    at += sizeof block;
  }
  return at;
}

// The number of valid bytes at `i`, and the expected length (0: invalid lead byte).
struct Match {
  std::size_t matched;
  std::size_t length;
};

Match match_at(std::string_view bytes, std::size_t i) {
  const Lead lead = lead_of(byte_at(bytes, i));
  std::size_t matched = 1;
  for (; matched < lead.length && i + matched < bytes.size(); ++matched) {
    const std::uint8_t next = byte_at(bytes, i + matched);
    const std::uint8_t min = matched == 1 ? lead.second_min : 0x80;
    const std::uint8_t max = matched == 1 ? lead.second_max : 0xBF;
    if (next < min || next > max) {
      break;
    }
  }
  return {matched, lead.length};
}

}  // namespace

std::size_t valid_prefix(std::string_view bytes) {
  std::size_t i = ascii_blocks(bytes);
  while (i < bytes.size()) {
    std::uint64_t word = 0;
    if (i + sizeof word <= bytes.size()) {
      std::memcpy(&word, bytes.data() + i, sizeof word);
      const std::uint64_t high = word & kHighBits;
      if (high == 0) {
        i += sizeof word;
        continue;
      }
      if constexpr (std::endian::native == std::endian::little) {
        i += static_cast<std::size_t>(std::countr_zero(high)) / 8;
      }
    } else if (byte_at(bytes, i) < 0x80) {
      ++i;
      continue;
    }
    // One character, and two-byte characters after it, which come in runs.
    const Match match = match_at(bytes, i);
    if (match.matched != match.length) {
      return i;
    }
    i += match.matched;
    while (i + 1 < bytes.size() && byte_at(bytes, i) >= 0xC2 && byte_at(bytes, i) <= 0xDF &&
           is_continuation(bytes[i + 1])) {
      i += 2;
    }
  }
  return i;
}

bool is_valid(std::string_view bytes) {
  return valid_prefix(bytes) == bytes.size();
}

std::string sanitize(std::string_view bytes) {
  std::string out;
  while (true) {
    const std::size_t good = valid_prefix(bytes);
    out += bytes.substr(0, good);
    if (good == bytes.size()) {
      return out;
    }
    out += kReplacement;
    bytes.remove_prefix(good + match_at(bytes, good).matched);
  }
}

void append(std::string& out, char32_t code_point) {
  const auto byte = [&out](char32_t value) { out += static_cast<char>(value); };
  if (code_point < 0x80) {
    byte(code_point);
  } else if (code_point < 0x800) {
    byte(0xC0 | (code_point >> 6U));
    byte(0x80 | (code_point & 0x3FU));
  } else if (code_point < 0x10000) {
    byte(0xE0 | (code_point >> 12U));
    byte(0x80 | ((code_point >> 6U) & 0x3FU));
    byte(0x80 | (code_point & 0x3FU));
  } else {
    byte(0xF0 | (code_point >> 18U));
    byte(0x80 | ((code_point >> 12U) & 0x3FU));
    byte(0x80 | ((code_point >> 6U) & 0x3FU));
    byte(0x80 | (code_point & 0x3FU));
  }
}

Decoded decode(std::string_view text) {
  const std::uint8_t first = byte_at(text, 0);
  const std::size_t length = std::max<std::size_t>(1, lead_of(first).length);
  if (length == 1) {
    return {first, 1};
  }
  char32_t code_point = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    code_point = (code_point << 6U) | (byte_at(text, i) & 0x3FU);
  }
  return {code_point, length};
}

std::size_t incomplete_tail(std::string_view bytes) {
  const std::size_t reach = std::min<std::size_t>(3, bytes.size());
  for (std::size_t back = 1; back <= reach; ++back) {
    const std::size_t i = bytes.size() - back;
    if (is_continuation(bytes[i])) {
      continue;  // a continuation byte: its lead is further left
    }
    const Match match = match_at(bytes, i);
    return match.matched == back && match.length > back ? back : 0;
  }
  return 0;
}

}  // namespace reprise::utf8
