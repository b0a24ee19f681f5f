#pragma once

// Writes JSON, keys in the order of the calls, text as UTF-8: compact, or one member or element per
// line with the spelling of numbers and strings preserved.

#include <cstdint>      // IWYU pragma: export
#include <optional>     // IWYU pragma: export
#include <string_view>  // IWYU pragma: export
#include <utility>      // IWYU pragma: export
#include <vector>       // IWYU pragma: export

#include "reprise/error.h"
#include "reprise/types.h"  // IWYU pragma: export

namespace reprise::json {

// Appends a quoted string. Escapes only what JSON requires (", \, controls); invalid UTF-8 becomes
// U+FFFD.
void append_string(std::string& out, std::string_view text);
std::string quoted(std::string_view text);

// Appends `{"a":1,"b":…}` piece by piece:
//   ObjectWriter object(out);
//   object.field("a", 1).field("b", "x");
//   object.close();
class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }
  ObjectWriter& field(std::string_view name, std::string_view text);
  ObjectWriter& field(std::string_view name, const char* text) {
    return field(name, std::string_view(text));
  }
  ObjectWriter& field(std::string_view name, std::int64_t number);
  ObjectWriter& field(std::string_view name, int number) {
    return field(name, static_cast<std::int64_t>(number));
  }
  ObjectWriter& field(std::string_view name, bool value);
  ObjectWriter& field(std::string_view name, const RawJson& json) { return raw(name, json.text()); }
  ObjectWriter& null(std::string_view name);
  ObjectWriter& text_or_null(std::string_view name, std::string_view text);  // null for ""
  ObjectWriter& raw(std::string_view name, std::string_view json);
  ObjectWriter& extra(const Extra& fields);
  // Writes the key; the caller appends the value to the returned string.
  std::string& key(std::string_view name);
  void close() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

// Appends `[…]`: call item() before appending each value to the same string.
class ArrayWriter {
 public:
  explicit ArrayWriter(std::string& out) : out_(out) { out_ += '['; }
  void item() {
    if (!first_) {
      out_ += ',';
    }
    first_ = false;
  }
  void close() { out_ += ']'; }

 private:
  std::string& out_;
  bool first_ = true;
};

namespace detail {
inline void add_members(ObjectWriter& /*object*/) {}
template <class Value, class... More>
void add_members(ObjectWriter& object, std::string_view name, const Value& value,
                 const More&... more) {
  object.field(name, value);
  add_members(object, more...);
}
}  // namespace detail

// Appends an object with these members, alternating names and values: append_object(out, "a", 1,
// "b", "x").
template <class... Members>
void append_object(std::string& out, const Members&... members) {
  ObjectWriter object(out);
  detail::add_members(object, members...);
  object.close();
}
template <class... Members>
std::string object_of(const Members&... members) {
  std::string out;
  append_object(out, members...);
  return out;
}

// `["a","b"]`
std::string array_of(const std::vector<std::string>& texts);

// The maximum size of indented JSON: small elements nested hundreds of levels deep would become a
// thousand times as large.
constexpr std::size_t indented_bytes_max(std::size_t json_bytes) {
  constexpr std::size_t kFactor = 64;
  constexpr std::size_t kBytesMin = 1 << 20;
  return kFactor * json_bytes + kBytesMin;
}

// Indents by two blanks per level; all lines but the first by `depth` more levels. `[]` and `{}`
// are printed on one line; there is no line end after the last line. Keys are re-escaped,
// everything else is preserved. corrupt for malformed JSON, unsupported beyond
// indented_bytes_max().
Result<std::string> pretty(std::string_view json, int depth = 0);

// A JSON value without whitespace between tokens, otherwise unchanged.
std::string compact(std::string_view validated);

}  // namespace reprise::json
