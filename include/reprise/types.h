#pragma once

// Distinct types for ids, sequence numbers, token counts, money and time, which cannot be swapped
// by accident and are validated once, on input; JSON whose spelling is preserved; usage.

#include <chrono>      // IWYU pragma: export
#include <compare>     // IWYU pragma: export
#include <functional>  // IWYU pragma: export
#include <limits>      // IWYU pragma: export
#include <optional>    // IWYU pragma: export
#include <vector>      // IWYU pragma: export

#include "reprise/error.h"  // IWYU pragma: export

namespace reprise {

// The version of a UUID: version 7 starts with the time, version 4 is random.
enum class UuidVersion : std::uint8_t { v4 = 4, v7 = 7 };

namespace detail {
Result<> check_id(std::string_view text);
}

// An identifier that is safe as a file name and on one line: 1 to 200 bytes of [A-Za-z0-9._:@+-],
// the first a letter or digit. Only parse() creates one.
template <class Tag>
class Id {
 public:
  static Result<Id> parse(std::string_view text) {
    REPRISE_TRY(detail::check_id(text));
    return Id(std::string(text));
  }
  const std::string& str() const { return text_; }
  friend auto operator<=>(const Id&, const Id&) = default;

 private:
  explicit Id(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

using SessionId = Id<struct SessionTag>;      // new ones are UUIDs of version 7
using OperationId = Id<struct OperationTag>;  // identifies an append; retries are applied once

// A message's position in its session: 0, 1, 2… The only order.
struct Seq {
  std::int64_t value = 0;
  Seq next(std::int64_t count = 1) const { return {value + count}; }
  friend auto operator<=>(const Seq&, const Seq&) = default;
};
inline constexpr Seq kSeqEnd{std::numeric_limits<std::int64_t>::max()};
// The maximum head of a session. Stores refuse to append beyond it, and report larger numbers in
// their data as damage; so adding up the messages of sessions cannot overflow.
inline constexpr Seq kSeqMax{std::int64_t{1} << 40};

// The number of a turn's artefacts, from 1. Step 0 is the session itself.
struct Step {
  std::int64_t value = 0;
  friend auto operator<=>(const Step&, const Step&) = default;
};

namespace detail {
inline std::int64_t add_saturated(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    return b > 0 ? std::numeric_limits<std::int64_t>::max()
                 : std::numeric_limits<std::int64_t>::min();
  }
  return sum;
}
}  // namespace detail

// Adding saturates: other programs' files may contain any numbers.
struct TokenCount {
  std::int64_t value = 0;
  TokenCount& operator+=(TokenCount other) {
    value = detail::add_saturated(value, other.value);
    return *this;
  }
  friend TokenCount operator+(TokenCount a, TokenCount b) { return a += b; }
  friend auto operator<=>(const TokenCount&, const TokenCount&) = default;
};

// An amount of US dollars in units of 1e-9, so that a single token's price is exact.
struct Money {
  std::int64_t nanos = 0;
  // A number as in JSON: "0.000105", "-1.5e-3". Digits beyond 1e-9 are rounded half away from zero;
  // nullopt for other text and for numbers outside ±9.2e9.
  static std::optional<Money> parse(std::string_view number);
  std::string str() const;  // the shortest plain decimal: "0.000105", "2"
  Money& operator+=(Money other) {
    nanos = detail::add_saturated(nanos, other.nanos);
    return *this;
  }
  friend auto operator<=>(const Money&, const Money&) = default;
};

// UTC, microseconds since 1970. Time{} is an unknown time: nothing that a session records happened
// in 1970.
using Time = std::chrono::sys_time<std::chrono::microseconds>;

// "2026-01-18T20:15:30.123456Z", with 0, 3 or 6 fraction digits, the shortest exact form.
std::string format_time(Time time);

// Accepts ISO 8601 / RFC 3339 with 'T' or a blank, 0 to 9 fraction digits, 'Z', an offset or
// nothing (UTC), and integer seconds since 1970. nullopt for everything else.
std::optional<Time> parse_time(std::string_view text);

// The SHA-256 of a blob, 64 lower-case hex digits.
class BlobHash {
 public:
  static Result<BlobHash> parse(std::string_view hex);
  const std::string& str() const { return hex_; }
  friend auto operator<=>(const BlobHash&, const BlobHash&) = default;

 private:
  explicit BlobHash(std::string hex) : hex_(std::move(hex)) {}
  std::string hex_;
};

// Who asked: a person's name, 1 to 256 bytes of UTF-8 without control characters.
class Author {
 public:
  static Result<Author> parse(std::string_view name);
  const std::string& str() const { return name_; }
  friend auto operator<=>(const Author&, const Author&) = default;

 private:
  explicit Author(std::string name) : name_(std::move(name)) {}
  std::string name_;
};

// JSON is opaque to Reprise in tool inputs, provider payloads and unknown fields: numbers (`1.0`,
// 24-digit integers), key order and escapes survive.
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

// The usage of one request to a provider. `request_id` identifies the request: each id is counted
// once however often it is stored.
struct Usage {
  TokenCount input = {};
  TokenCount output = {};
  TokenCount reasoning = {};
  TokenCount cached = {};         // of the input, read from the provider's cache
  TokenCount cache_written = {};  // of the input, written to it
  std::optional<Money> cost = {};
  // Where the cost came from: "provider", or the name of another tool; "" without a cost.
  std::string price_source = {};
  std::string request_id = {};
  Extra extra = {};
  friend bool operator==(const Usage&, const Usage&) = default;
};

std::string usage_to_json(const Usage& usage);
Result<Usage> usage_from_json(std::string_view json);

}  // namespace reprise

template <class Tag>
struct std::hash<reprise::Id<Tag>> {
  std::size_t operator()(const reprise::Id<Tag>& id) const {
    return std::hash<std::string>{}(id.str());
  }
};
