#pragma once

// Reading JSON without changing it. A Scanner walks over a text and validates all it passes; what
// the caller understands is decoded, all else can be taken as the raw text that stands there, so
// that number spelling, key order and escapes survive. (The libraries at hand turn 24-digit
// integers into doubles, merge duplicate keys and refuse lone surrogates.)
//
// A scanner that has failed stays failed: every function returns false and fault() says where and
// why. Strings come out as valid UTF-8: lone surrogates and bad bytes become U+FFFD and lossy()
// tells.

#include <optional>

#include "reprise/json.h"  // IWYU pragma: export

namespace reprise::json {

enum class Kind : std::uint8_t { none, object, array, string, number, boolean, null };

// Whether a control character may stand in a string as it is, which JSON forbids.
enum class Controls : std::uint8_t { refused, accepted };

class Scanner {
 public:
  // `text` must outlive the scanner and what raw() returns.
  explicit Scanner(std::string_view text, Controls controls = Controls::refused)
      : text_(text), controls_(controls) {}

  Kind kind();                      // of the next value; none at the end and for garbage
  bool raw(std::string_view& out);  // any value, as it is written
  bool skip();
  bool string(std::string& out);  // decoded
  bool boolean(bool& out);
  bool integer(std::int64_t& out);  // fails on fractions, exponents and overflow
  bool null();
  bool end();                           // nothing but blanks is left
  bool word(std::string_view literal);  // exactly this text

  // member(key) is called before each value and must consume it with this scanner.
  template <class Member>
  bool object(const Member& member);
  // element() likewise.
  template <class Element>
  bool array(const Element& element);

  bool failed() const { return failed_; }
  bool lossy() const { return lossy_; }
  std::size_t position() const { return at_; }
  std::string_view rest() const { return text_.substr(at_); }
  Error fault() const;
  bool fail(std::string_view reason);  // also for callers that dislike a value

 private:
  void blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) {
      ++at_;
    }
  }
  static bool is_blank(char c) {
    return static_cast<unsigned char>(c) <= ' ' &&
           (c == ' ' || c == '\n' || c == '\r' || c == '\t');
  }
  bool eat(char c) {
    if (failed_) {
      return false;
    }
    blanks();
    if (at_ >= text_.size() || text_[at_] != c) {
      return refuse_next();
    }
    ++at_;
    return true;
  }
  bool refuse_next();  // what comes is not what must come
  bool name(std::string_view& out, std::string& decoded);
  bool number();
  bool skip_string();
  bool after_run(bool& closed, std::string& out);
  bool enter();
  void leave() { --depth_; }
  bool escape(std::string& out);
  bool hex4(char32_t& out);
  bool next_item(bool first, char close, bool& done);
  bool took(bool good) { return (good && !failed_) || fail("unexpected value"); }
  // Calls item() before each; it must consume it.
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

template <class Item>
bool Scanner::items(char open, char close, const Item& item) {
  if (!eat(open) || !enter()) {
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
  return items('{', '}', [&] { return name(key, decoded) && eat(':') && took(member(key)); });
}

template <class Element>
bool Scanner::array(const Element& element) {
  return items('[', ']', [&] { return took(element()); });
}

// A raw value that a scanner has validated, as RawJson. Bytes that are not UTF-8 inside strings
// become U+FFFD.
RawJson take(std::string_view validated);

// Makes one of two strings, as they are spelled: an escape that was cut between them (the halves of
// a surrogate pair) becomes whole again. Costs what is added. False, and nothing changes, when one
// of them is no string.
bool join_strings(RawJson& text, const RawJson& more);

// What a raw value is, decoded; nullopt for a value of another type.
std::optional<std::string> text_in(std::string_view raw);
std::optional<std::int64_t> integer_in(std::string_view raw);

// The value of a field; null when there is none.
const RawJson* find_field(const Extra& extra, std::string_view name);
// Replaces it, or adds it at the end.
void set_field(Extra& extra, std::string_view name, RawJson value);

// The raw text of one member of an object; "" when it is missing or `object` is none.
std::string_view find_member(std::string_view object, std::string_view name);

}  // namespace reprise::json
