#pragma once

// JSON that is kept as it was written. Tool inputs, provider payloads and unknown fields are
// opaque to Reprise: their spelling (`1.0`, 24-digit integers, key order, escapes) survives.

#include <vector>  // IWYU pragma: export

#include "reprise/error.h"  // IWYU pragma: export

namespace reprise {

inline constexpr int kJsonDepthMax = 512;

// One well-formed JSON value (RFC 8259, UTF-8) as text. Equality is equality of the text.
class RawJson {
 public:
  RawJson() : text_("null") {}
  // invalid_argument with the byte position for anything that is not exactly one JSON value, for
  // invalid UTF-8, and for nesting deeper than kJsonDepthMax.
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

// Fields that were read and not understood, in their order; written back untouched.
struct ExtraField {
  std::string name;
  RawJson value;
  friend bool operator==(const ExtraField&, const ExtraField&) = default;
};
using Extra = std::vector<ExtraField>;

}  // namespace reprise
