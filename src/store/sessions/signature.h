#pragma once

// Signatures of session files: an HMAC-SHA256 over the file in the spelling of the original
// program, without its member `signature`. The key is derived from a secret of the machine, in the
// file `machine_secret` beside the folder, and the host name.

#include <filesystem>
#include <optional>
#include <span>

#include "reprise/error.h"

namespace reprise::store::sessions {

class SigningKey {
 public:
  // Takes tens of milliseconds for the first call; keys are cached per process.
  static Result<SigningKey> derive(std::string_view secret, std::string_view host);

  const std::string& host() const { return host_; }
  // The signature in base64. The pieces are signed as one text.
  Result<std::string> sign(std::span<const std::string_view> pieces) const;

 private:
  SigningKey(std::string key, std::string_view host) : key_(std::move(key)), host_(host) {}
  std::string key_;
  std::string host_;
};

// The part of this host's name used for the key: up to the first dot.
std::string host_name();

// nullopt if there is none that the original would use. io if it cannot be read.
Result<std::optional<std::string>> read_secret(const std::filesystem::path& file);

// The signature of a file.
struct SignedText {
  std::optional<std::string> signature;  // nullopt if it is not signed
  std::string host;                      // the signing host; "" if the file does not name it
  std::string payload;                   // the signed text
};
// corrupt if it is not a JSON object.
Result<SignedText> read_signed(std::string_view json);

}  // namespace reprise::store::sessions
