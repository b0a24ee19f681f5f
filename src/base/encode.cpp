#include "base/encode.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/late_library.h"
#include "reprise/error.h"
#include "reprise/types.h"

namespace reprise {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// openssl/sha.h: unsigned char *SHA256(const unsigned char *d, size_t n, unsigned char *md)
using Sha256Function = unsigned char* (*)(const unsigned char*, std::size_t, unsigned char*);

Result<Sha256Function> load_sha256() {
  REPRISE_ASSIGN(const auto library, LateLibrary::load("OpenSSL", {"libcrypto.so.3"}));
  Sha256Function function = nullptr;
  REPRISE_TRY(library.bind(function, "SHA256"));
  return function;
}

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view group = bytes.substr(i, 3);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = (bits << 8U) | (k < group.size() ? static_cast<unsigned char>(group[k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += k <= group.size() ? kAlphabet[(bits >> (18U - 6U * k)) & 0x3FU] : '=';
    }
  }
  return out;
}

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) {
    return std::nullopt;
  }
  while (!text.empty() && text.back() == '=' && text.size() % 4 != 2) {
    text.remove_suffix(1);
  }
  std::string out;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    const auto value = kAlphabet.find(c);
    if (value == std::string_view::npos) {
      return std::nullopt;
    }
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>((bits >> count) & 0xFFU);
    }
  }
  return out;
}

std::string hex_encode(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 0xFU];
  }
  return out;
}

Result<BlobHash> sha256(std::string_view bytes) {
  static const Result<Sha256Function> function = load_sha256();
  REPRISE_TRY(function);
  std::array<unsigned char, 32> digest{};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are bytes.
  (**function)(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  const std::string raw(digest.begin(), digest.end());
  return BlobHash::parse(hex_encode(raw));
}

}  // namespace reprise
