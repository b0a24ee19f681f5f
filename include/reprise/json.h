#pragma once

// JSON whose spelling is preserved. Tool inputs, provider payloads and unknown fields are opaque to
// Reprise: numbers (`1.0`, 24-digit integers), key order and escapes survive.

#include <vector>  // IWYU pragma: export

#include "reprise/error.h"  // IWYU pragma: export

namespace reprise {

inline constexpr int kJsonDepthMax = 512;

// One well-formed JSON value (RFC 8259, UTF-8) as text. Compared as text.
class RawJson {
 public:
  RawJson() : text_("null") {}
  // invalid_argument with the byte position for anything but exactly one JSON value, for invalid
  // UTF-8, and for nesting deeper than kJsonDepthMax.
  static Result<RawJson> parse(std::string text);
  // A JSON string holding `text`; bytes that are not UTF-8 become U+FFFD.
  static RawJson string(std::string_view text);

  const std::string& text() const { return text_; }
  bool is_null() const { return text_ == "null"; }
  friend bool operator==(const RawJson&, const RawJson&) = default;

 private:
  friend class RawJsonAccess;
  explicit RawJson(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

// Unknown fields, in their order; written back unchanged.
struct ExtraField {
  std::string name;
  RawJson value;
  friend bool operator==(const ExtraField&, const ExtraField&) = default;
};
using Extra = std::vector<ExtraField>;

}  // namespace reprise
