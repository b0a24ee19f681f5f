#pragma once

// Signatures of session files: an HMAC-SHA256 over the file as the original program spells it,
// without its member `signature`. The key is made of a secret of the machine, in the file
// `machine_secret` beside the folder, and of the host's name.

#include <filesystem>
#include <optional>
#include <span>

#include "reprise/error.h"

namespace reprise::store::sessions {

class SigningKey {
 public:
  // Takes tens of milliseconds the first time; a process remembers what it derived.
  static Result<SigningKey> derive(std::string_view secret, std::string_view host);

  const std::string& host() const { return host_; }
  // In base64. The pieces are signed as one text.
  Result<std::string> sign(std::span<const std::string_view> pieces) const;

 private:
  SigningKey(std::string key, std::string_view host) : key_(std::move(key)), host_(host) {}
  std::string key_;
  std::string host_;
};

// The part of this host's name that goes into the key: up to the first point.
std::string host_name();

// nullopt: there is none that the original would use. io when it cannot be told.
Result<std::optional<std::string>> read_secret(const std::filesystem::path& file);

// What a file says of its signature.
struct SignedText {
  std::optional<std::string> signature;  // nullopt: it is not signed
  std::string host;                      // who signed; "" where the file does not tell
  std::string payload;                   // what was signed
};
// corrupt for what is no JSON object.
Result<SignedText> read_signed(std::string_view json);

}  // namespace reprise::store::sessions
