#include "base/encode.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "base/dynamic_library.h"
#include "base/text.h"
#include "reprise/types.h"

namespace reprise {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::size_t kDigestBytes = 32;
using Digest = std::array<unsigned char, kDigestBytes>;

// The functions of libcrypto, declared as in openssl/evp.h and openssl/sha.h (OpenSSL 3).
struct Crypto : LibraryFunctions {
  using Context = void;
  LazyFunction<unsigned char* (*)(const unsigned char*, std::size_t, unsigned char*)> sha256{
      *this, "SHA256"};
  LazyFunction<const void* (*)()> sha256_method{*this, "EVP_sha256"};
  LazyFunction<int (*)(const char*, int, const unsigned char*, int, int, const void*, int,
                       unsigned char*)>
      pbkdf2{*this, "PKCS5_PBKDF2_HMAC"};
  LazyFunction<Context* (*)()> new_context{*this, "EVP_MD_CTX_new"};
  LazyFunction<void (*)(Context*)> free_context{*this, "EVP_MD_CTX_free"};
  LazyFunction<int (*)(Context*, const void*, void*)> begin{*this, "EVP_DigestInit_ex"};
  LazyFunction<int (*)(Context*, const void*, std::size_t)> update{*this, "EVP_DigestUpdate"};
  LazyFunction<int (*)(Context*, unsigned char*, unsigned*)> finish{*this, "EVP_DigestFinal_ex"};
};

const Result<const Crypto*>& loaded_crypto() {
  static const auto crypto = load_library<Crypto>("OpenSSL", kCryptoFiles);
  return crypto;
}

const unsigned char* bytes_of(std::string_view text) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are bytes.
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string text_of(const Digest& digest) {
  return {digest.begin(), digest.end()};
}

// An incremental SHA-256.
class Hasher {
 public:
  explicit Hasher(const Crypto& crypto)
      : crypto_(crypto), context_(crypto.new_context(), crypto.free_context.function()) {
    good_ = context_ != nullptr && crypto_.begin(context_.get(), crypto_.sha256_method(), nullptr);
  }

  void add(std::string_view bytes) {
    good_ = good_ && crypto_.update(context_.get(), bytes.data(), bytes.size()) == 1;
  }

  Result<std::string> finish() {
    Digest digest{};
    if (!good_ || crypto_.finish(context_.get(), digest.data(), nullptr) != 1) {
      return fail(Code::io, "OpenSSL could not compute a SHA-256 hash");
    }
    return text_of(digest);
  }

 private:
  const Crypto& crypto_;
  std::unique_ptr<Crypto::Context, void (*)(Crypto::Context*)> context_;
  bool good_ = false;
};

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

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_plain = is_ascii_alnum(c) || std::string_view("-._~").contains(c);
    out += is_plain ? std::string(1, c) : cat("%", hex_encode(std::string_view(&c, 1)));
  }
  return out;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    unsigned char code = 0;
    const std::string_view digits = text.substr(1, 2);
    const bool is_escape =
        text.front() == '%' && digits.size() == 2 &&
        std::from_chars(digits.begin(), digits.end(), code, 16).ptr == digits.end();
    out += is_escape ? static_cast<char>(code) : text.front();
    text.remove_prefix(is_escape ? 3 : 1);
  }
  return out;
}

Result<BlobHash> sha256(std::string_view bytes) {
  const auto& crypto = loaded_crypto();
  REPRISE_TRY(crypto);
  Digest digest{};
  (*crypto)->sha256(bytes_of(bytes), bytes.size(), digest.data());
  return BlobHash::parse(hex_encode(text_of(digest)));
}

Result<std::string> hmac_sha256(std::string_view key, std::span<const std::string_view> pieces) {
  const auto& crypto = loaded_crypto();
  REPRISE_TRY(crypto);
  constexpr std::size_t kBlockBytes = 64;
  std::string padded(key);
  if (key.size() > kBlockBytes) {
    Hasher shortened(**crypto);
    shortened.add(key);
    REPRISE_ASSIGN(padded, shortened.finish());
  }
  padded.resize(kBlockBytes, '\0');
  const auto masked = [&padded](unsigned char mask) {
    std::string out = padded;
    for (char& c : out) {
      c = static_cast<char>(static_cast<unsigned char>(c) ^ mask);
    }
    return out;
  };
  Hasher inner(**crypto);
  inner.add(masked(0x36));
  for (const std::string_view piece : pieces) {
    inner.add(piece);
  }
  REPRISE_ASSIGN(const std::string inner_digest, inner.finish());
  Hasher outer(**crypto);
  outer.add(masked(0x5C));
  outer.add(inner_digest);
  return outer.finish();
}

Result<std::string> pbkdf2_sha256(std::string_view password, std::string_view salt, int rounds) {
  const auto& crypto = loaded_crypto();
  REPRISE_TRY(crypto);
  Digest key{};
  if ((*crypto)->pbkdf2(password.data(), static_cast<int>(password.size()), bytes_of(salt),
                        static_cast<int>(salt.size()), rounds, (*crypto)->sha256_method(),
                        static_cast<int>(key.size()), key.data()) != 1) {
    return fail(Code::io, "OpenSSL could not derive a key");
  }
  return text_of(key);
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  unsigned differing = a.size() == b.size() ? 0U : 1U;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    differing |=
        static_cast<unsigned>(static_cast<unsigned char>(a[i])) ^ static_cast<unsigned char>(b[i]);
  }
  return differing == 0;
}

std::string hash_of_words(std::string_view bytes) {
  std::uint64_t hash = kFnvOffset ^ bytes.size();
  for (std::uint64_t word = 0; !bytes.empty(); word = 0) {
    const std::size_t size = std::min(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), size);
    bytes.remove_prefix(size);
    hash = (hash ^ word) * kFnvPrime;
    hash ^= hash >> 32U;
  }
  std::string out(sizeof hash, '\0');
  std::memcpy(out.data(), &hash, sizeof hash);
  return out;
}

}  // namespace reprise
