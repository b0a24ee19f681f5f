#pragma once

// Reads JSON without changing it. A Scanner walks over a text and validates everything it passes;
// callers decode what they understand, and take the rest as raw text, so that number spelling, key
// order and escapes are preserved. (Common libraries turn 24-digit integers into doubles, merge
// duplicate keys and reject lone surrogates.)
//
// Errors are sticky: after one, every function returns false, and fault() describes it. Decoded
// strings are valid UTF-8: lone surrogates and invalid bytes become U+FFFD, and lossy() returns
// true.

#include <cstdint>  // IWYU pragma: export
#include <optional>
#include <string>       // IWYU pragma: export
#include <string_view>  // IWYU pragma: export
#include <utility>      // IWYU pragma: export

#include "base/text.h"
#include "reprise/types.h"  // IWYU pragma: export

namespace reprise::json {

enum class Kind : std::uint8_t { none, object, array, string, number, boolean, null };

// Whether unescaped control characters are allowed in strings; JSON forbids them.
enum class Controls : std::uint8_t { refused, accepted };

class Scanner {
 public:
  // `text` must outlive the scanner and what raw() returns.
  explicit Scanner(std::string_view text, Controls controls = Controls::refused)
      : text_(text), controls_(controls) {}

  Kind kind();                      // of the next value; none at the end and for malformed text
  bool raw(std::string_view& out);  // any value, unchanged
  bool skip() { return skip(kind()); }
  bool skip(Kind next);           // the same if the caller has called kind()
  bool string(std::string& out);  // decoded
  bool boolean(bool& out);
  bool integer(std::int64_t& out);  // fails on fractions, exponents and overflow
  bool null();
  bool end();                           // only whitespace is left
  bool word(std::string_view literal);  // exactly this text

  // member(key) is called before each value and must consume it with this scanner.
  template <class Member>
  bool object(const Member& member);
  // element() is called before each value and must consume it.
  template <class Element>
  bool array(const Element& element);

  bool failed() const { return failed_; }
  bool lossy() const { return lossy_; }
  std::size_t position() const { return at_; }
  std::string_view rest() const { return text_.substr(at_); }
  Error fault() const;
  bool fail(std::string_view reason);  // also for callers that reject a value

 private:
  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) {
      ++at_;
    }
  }
  static bool is_blank(char c) {
    return static_cast<unsigned char>(c) <= ' ' &&
           (c == ' ' || c == '\n' || c == '\r' || c == '\t');
  }
  bool expect(char c) {
    if (failed_) {
      return false;
    }
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) {
      return refuse_next();
    }
    ++at_;
    return true;
  }
  bool refuse_next();  // reports an unexpected token
  bool name(std::string_view& out, std::string& decoded);
  bool number();
  bool skip_string();
  bool after_run(bool& closed, std::string& out);
  bool enter();
  void leave() { --depth_; }
  bool escape(std::string& out);
  bool hex4(char32_t& out);
  bool next_item(bool first, char close, bool& done);
  bool check_value(bool good) { return (good && !failed_) || fail("unexpected value"); }
  // Calls item() before each item; it must consume the item.
  template <class Item>
  bool items(char open, char close, const Item& item);

  std::string_view text_;
  Controls controls_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
  bool lossy_ = false;
  std::string_view reason_;
};

// These are called for each value, so they are inline.

inline Kind Scanner::kind() {
  skip_blanks();
  if (failed_ || at_ >= text_.size()) {
    return Kind::none;
  }
  const char c = text_[at_];
  switch (c) {
    case '{':
      return Kind::object;
    case '[':
      return Kind::array;
    case '"':
      return Kind::string;
    case 't':
    case 'f':
      return Kind::boolean;
    case 'n':
      return Kind::null;
    default:
      return c == '-' || is_ascii_digit(c) ? Kind::number : Kind::none;
  }
}

inline bool Scanner::next_item(bool first, char close, bool& done) {
  skip_blanks();
  const auto at_close = [&] { return at_ < text_.size() && text_[at_] == close; };
  if (!failed_ && at_close()) {
    ++at_;
    done = true;
    return true;
  }
  if (first) {
    return !failed_;
  }
  if (!expect(',')) {
    return false;
  }
  skip_blanks();
  return !at_close() || fail("comma before the end");
}

template <class Item>
bool Scanner::items(char open, char close, const Item& item) {
  if (!expect(open) || !enter()) {
    return false;
  }
  for (bool first = true, done = false;; first = false) {
    if (!next_item(first, close, done)) {
      return false;
    }
    if (done) {
      leave();
      return true;
    }
    if (!item()) {
      return false;
    }
  }
}

template <class Member>
bool Scanner::object(const Member& member) {
  std::string_view key;
  std::string decoded;
  return items('{', '}',
               [&] { return name(key, decoded) && expect(':') && check_value(member(key)); });
}

template <class Element>
bool Scanner::array(const Element& element) {
  return items('[', ']', [&] { return check_value(element()); });
}

// Makes a RawJson of a raw value that a scanner has validated. Invalid UTF-8 inside strings becomes
// U+FFFD.
RawJson take(std::string_view validated);

// Appends one JSON string to another without decoding: the halves of a surrogate pair that was
// split between them are joined. Takes time proportional to `more`. Returns false without a change
// if one of them is not a string.
bool join_strings(RawJson& text, const RawJson& more);

// The decoded raw value; nullopt for a value of another type.
std::optional<std::string> text_in(std::string_view raw);
std::optional<std::int64_t> integer_in(std::string_view raw);

// The value of a field; null if there is none.
const RawJson* find_field(const Extra& extra, std::string_view name);
// Replaces the field, or appends it.
void set_field(Extra& extra, std::string_view name, RawJson value);

// The raw text of one member of an object; "" if it is missing or `object` is not an object.
std::string_view find_member(std::string_view object, std::string_view name);

}  // namespace reprise::json
