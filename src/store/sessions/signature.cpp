#include "store/sessions/signature.h"

#include <unistd.h>

#include <array>
#include <map>
#include <mutex>
#include <optional>

#include "base/encode.h"
#include "base/file.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "store/document/sidecar.h"
#include "store/sessions/spelling.h"

namespace reprise::store::sessions {
namespace {

constexpr std::string_view kSalt = "jido_code_session_v1_2025";
constexpr int kRounds = 100'000;
// The original replaces shorter secrets by a new one.
constexpr std::size_t kSecretBytesMin = 32;
constexpr std::int64_t kSecretBytesMax = 4096;
constexpr std::size_t kKeysMax = 16;  // cached keys

using Derivation = std::pair<std::string, std::string>;  // secret and host

Result<std::string> derive_once(const Derivation& from) {
  static std::mutex mutex;
  static std::map<Derivation, std::string> keys;
  const std::lock_guard lock(mutex);
  if (const auto known = keys.find(from); known != keys.end()) {
    return known->second;
  }
  const auto& [secret, host] = from;
  REPRISE_ASSIGN(std::string key, pbkdf2_sha256(kSalt, cat(kSalt, secret, host), kRounds));
  if (keys.size() >= kKeysMax) {
    keys.clear();
  }
  keys.emplace(from, key);
  return key;
}

std::string text_in(std::string_view raw) {
  return json::text_in(raw).value_or("");
}

}  // namespace

Result<SigningKey> SigningKey::derive(std::string_view secret, std::string_view host) {
  REPRISE_ASSIGN(std::string key, derive_once({std::string(secret), std::string(host)}));
  return SigningKey(std::move(key), host);
}

Result<std::string> SigningKey::sign(std::span<const std::string_view> pieces) const {
  REPRISE_ASSIGN(const std::string bytes, hmac_sha256(key_, pieces));
  return base64_encode(bytes);
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) {
    return "localhost";
  }
  const std::string_view full_name(name.data());
  return std::string(full_name.substr(0, full_name.find('.')));
}

Result<std::optional<std::string>> read_secret(const std::filesystem::path& file) {
  // Links are followed: the file is beside the store, where its owner may have put one.
  REPRISE_ASSIGN(const std::filesystem::path path, resolve_path(file));
  auto secret = read_file(path, kSecretBytesMax);
  if (!secret && secret.error().code == Code::io) {
    return std::unexpected(std::move(secret).error());
  }
  if (!secret || secret->size() < kSecretBytesMin) {
    return std::nullopt;
  }
  return *std::move(secret);
}

Result<SignedText> read_signed(std::string_view json) {
  json::Scanner scanner(json);
  SignedText text;
  std::string unsigned_json = "{";
  const bool is_valid = scanner.object([&](std::string_view name) {
    std::string_view raw;
    if (!scanner.raw(raw)) {
      return false;
    }
    if (name == "signature") {
      // A value that is not a string is an invalid signature, not a missing one.
      text.signature = raw == "null" ? std::nullopt : std::optional(text_in(raw));
      return true;
    }
    if (name == kSidecar && raw.starts_with('"')) {
      const std::string sidecar = text_in(raw);
      text.host = text_in(json::find_member(sidecar, "host"));
    }
    unsigned_json += unsigned_json.size() == 1 ? "" : ",";
    append_string(unsigned_json, name);
    unsigned_json += ':';
    unsigned_json += raw;
    return true;
  });
  if (!is_valid || !scanner.end()) {
    return std::unexpected(scanner.fault());
  }
  unsigned_json += '}';
  REPRISE_ASSIGN(text.payload, formatted(unsigned_json));
  return text;
}

}  // namespace reprise::store::sessions
