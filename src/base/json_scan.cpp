#include "base/json_scan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

#include "base/json_run.h"
#include "base/text.h"
#include "base/utf8.h"

namespace reprise {

// The only way to bypass RawJson's validation.
class RawJsonAccess {
 public:
  static RawJson make(std::string text) { return RawJson(std::move(text)); }
  static std::string& text(RawJson& json) { return json.text_; }
};

namespace json {

bool Scanner::fail(std::string_view reason) {
  if (!failed_) {
    failed_ = true;
    reason_ = reason;
  }
  return false;
}

Error Scanner::fault() const {
  return {Code::corrupt, cat("not valid JSON at byte ", at_, ": ", failed_ ? reason_ : "no value")};
}

bool Scanner::refuse_next() {
  return fail(at_ >= text_.size() ? "unexpected end" : "unexpected character");
}

bool Scanner::enter() {
  if (++depth_ > kJsonDepthMax) {
    return fail("nested too deeply");
  }
  return true;
}

bool Scanner::word(std::string_view literal) {
  if (failed_) {
    return false;
  }
  skip_blanks();
  if (text_.substr(at_, literal.size()) != literal) {
    return fail("unexpected character");
  }
  at_ += literal.size();
  return true;
}

bool Scanner::null() {
  return word("null");
}

bool Scanner::boolean(bool& out) {
  skip_blanks();
  out = at_ < text_.size() && text_[at_] == 't';
  return word(out ? "true" : "false");
}

bool Scanner::number() {
  const auto digits = [this] {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_ascii_digit(text_[at_])) {
      ++at_;
    }
    return at_ > start;
  };
  const auto has = [this](char c) { return at_ < text_.size() && text_[at_] == c; };
  if (has('-')) {
    ++at_;
  }
  if (has('0')) {
    ++at_;
  } else if (!digits()) {
    return fail("not a number");
  }
  if (has('.')) {
    ++at_;
    if (!digits()) {
      return fail("no digit after the point");
    }
  }
  if (has('e') || has('E')) {
    ++at_;
    if (has('+') || has('-')) {
      ++at_;
    }
    if (!digits()) {
      return fail("no digit in the exponent");
    }
  }
  return true;
}

bool Scanner::integer(std::int64_t& out) {
  if (kind() != Kind::number) {
    return fail("not a number");
  }
  const std::size_t start = at_;
  if (!number()) {
    return false;
  }
  const char* first = text_.data() + start;
  const char* last = text_.data() + at_;
  const auto [end, code] = std::from_chars(first, last, out);
  return (code == std::errc{} && end == last) || fail("not a 64-bit integer");
}

bool Scanner::hex4(char32_t& out) {
  out = 0;
  if (at_ + 4 > text_.size()) {
    return fail("unexpected end");
  }
  const char* first = text_.data() + at_;
  std::uint32_t value = 0;
  const auto [end, code] = std::from_chars(first, first + 4, value, 16);
  if (code != std::errc{} || end != first + 4) {
    return fail("bad \\u escape");
  }
  at_ += 4;
  out = value;
  return true;
}

namespace {

// The character that an escape stands for; 0 for \u and invalid escapes.
constexpr auto kEscaped = [] {
  std::array<char, 256> table{};
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    table.at(static_cast<unsigned char>(kNames[i])) = kValues[i];
  }
  return table;
}();

bool is_simple_escape(char c) {
  return kEscaped[static_cast<unsigned char>(c)] != 0;
}

}  // namespace

// Parses an escape after its backslash.
bool Scanner::escape(std::string& out) {
  if (at_ >= text_.size()) {
    return fail("unexpected end");
  }
  const char c = text_[at_++];
  if (const char simple = kEscaped[static_cast<unsigned char>(c)]; simple != 0) {
    out += simple;
    return true;
  }
  if (c != 'u') {
    return fail("unknown escape");
  }
  char32_t unit = 0;
  if (!hex4(unit)) {
    return false;
  }
  if (unit >= 0xD800 && unit < 0xDC00 && text_.substr(at_, 2) == "\\u") {
    const std::size_t before = at_;
    at_ += 2;
    char32_t low = 0;
    if (!hex4(low)) {
      return false;
    }
    if (low >= 0xDC00 && low < 0xE000) {
      unit = 0x10000 + ((unit - 0xD800) << 10U) + (low - 0xDC00);
    } else {
      at_ = before;  // not a surrogate pair: decode each unit separately
    }
  }
  if (unit >= 0xD800 && unit < 0xE000) {
    lossy_ = true;
    out += utf8::kReplacement;
  } else {
    utf8::append(out, unit);
  }
  return true;
}

// Handles the end of a run of plain string content: the closing quote, an escape or a control
// character.
bool Scanner::after_run(bool& closed, std::string& out) {
  if (at_ >= text_.size()) {
    return fail("unexpected end of a string");
  }
  const char c = text_[at_];
  if (c != '"' && c != '\\' && controls_ == Controls::refused) {
    return fail("control character in a string");
  }
  ++at_;
  closed = c == '"';
  if (c == '\\') {
    return escape(out);
  }
  if (!closed) {
    out += c;
  }
  return true;
}

namespace {

// The number of bytes from `at` in a string to its closing quote.
std::size_t string_bytes(std::string_view text, std::size_t at) {
  std::size_t end = text.find('"', at);
  while (end != std::string_view::npos) {
    std::size_t slashes = 0;
    while (end - slashes > at && text[end - slashes - 1] == '\\') {
      ++slashes;
    }
    if (slashes % 2 == 0) {
      return end - at;
    }
    end = text.find('"', end + 1);
  }
  return text.size() - at;
}

}  // namespace

bool Scanner::string(std::string& out) {
  out.clear();
  if (!expect('"')) {
    return false;
  }
  Run run = plain_run(text_, at_);
  if (run.end < text_.size() && text_[run.end] == '\\') {
    out.reserve(string_bytes(text_, at_));  // the decoded string is never longer
  }
  bool is_valid = true;
  while (true) {
    const std::string_view piece = text_.substr(at_, run.end - at_);
    is_valid = is_valid && (run.ascii || utf8::is_valid(piece));
    out += piece;
    at_ = run.end;
    bool closed = false;
    if (!after_run(closed, out)) {
      return false;
    }
    if (closed) {
      break;
    }
    run = plain_run(text_, at_);
  }
  if (!is_valid) {
    lossy_ = true;
    out = utf8::sanitize(out);  // escapes give valid UTF-8, so only the input can be invalid
  }
  return true;
}

// A member's name: most have no escapes, and are returned as views.
bool Scanner::name(std::string_view& out, std::string& decoded) {
  skip_blanks();
  if (!failed_ && at_ < text_.size() && text_[at_] == '"') {
    const Run run = plain_run(text_, at_ + 1);
    if (run.ascii && run.end < text_.size() && text_[run.end] == '"') {
      out = text_.substr(at_ + 1, run.end - at_ - 1);
      at_ = run.end + 1;
      return true;
    }
  }
  const bool is_string = string(decoded);
  out = decoded;
  return is_string;
}

bool Scanner::skip_string() {
  if (!expect('"')) {
    return false;
  }
  std::string ignored;
  while (true) {
    at_ = plain_run(text_, at_).end;
    if (at_ < text_.size() && text_[at_] == '"') {
      ++at_;
      return true;
    }
    const bool has_more = at_ + 1 < text_.size();
    if (has_more && text_[at_] == '\\' && is_simple_escape(text_[at_ + 1])) {
      at_ += 2;
      continue;
    }
    bool closed = false;
    ignored.clear();
    if (!after_run(closed, ignored)) {
      return false;
    }
    if (closed) {
      return true;
    }
  }
}

bool Scanner::skip(Kind next) {
  switch (next) {
    case Kind::object:
      // Skipped names need not be decoded.
      return items('{', '}', [this] { return skip_string() && expect(':') && skip(); });
    case Kind::array:
      return array([this] { return skip(); });
    case Kind::string:
      return skip_string();
    case Kind::number:
      return number();
    case Kind::boolean: {
      bool ignored = false;
      return boolean(ignored);
    }
    case Kind::null:
      return null();
    case Kind::none:
      return refuse_next();
  }
  return false;
}

bool Scanner::raw(std::string_view& out) {
  skip_blanks();
  const std::size_t start = at_;
  if (!skip()) {
    return false;
  }
  out = text_.substr(start, at_ - start);
  return true;
}

bool Scanner::end() {
  skip_blanks();
  return !failed_ && (at_ == text_.size() || fail("unexpected text after the value"));
}

RawJson take(std::string_view validated) {
  return RawJsonAccess::make(utf8::is_valid(validated) ? std::string(validated)
                                                       : utf8::sanitize(validated));
}

bool join_strings(RawJson& text, const RawJson& more) {
  constexpr char kQuote = '"';
  if (!text.text().starts_with(kQuote) || !more.text().starts_with(kQuote)) {
    return false;
  }
  const std::string added = more.text().substr(1);  // `text` and `more` may be the same object
  std::string& joined = RawJsonAccess::text(text);
  joined.pop_back();
  joined += added;
  return true;
}

std::optional<std::string> text_in(std::string_view raw) {
  Scanner scanner(raw);
  std::string text;
  return scanner.kind() == Kind::string && scanner.string(text) ? std::optional(std::move(text))
                                                                : std::nullopt;
}

std::optional<std::int64_t> integer_in(std::string_view raw) {
  Scanner scanner(raw);
  std::int64_t number = 0;
  return scanner.kind() == Kind::number && scanner.integer(number) ? std::optional(number)
                                                                   : std::nullopt;
}

const RawJson* find_field(const Extra& extra, std::string_view name) {
  const auto found = std::ranges::find(extra, name, &ExtraField::name);
  return found == extra.end() ? nullptr : &found->value;
}

void set_field(Extra& extra, std::string_view name, RawJson value) {
  const auto found = std::ranges::find(extra, name, &ExtraField::name);
  if (found == extra.end()) {
    extra.push_back({std::string(name), std::move(value)});
  } else {
    found->value = std::move(value);
  }
}

std::string_view find_member(std::string_view object, std::string_view name) {
  std::string_view found;
  Scanner scanner(object);
  if (scanner.kind() != Kind::object) {
    return {};
  }
  const bool is_object = scanner.object([&](std::string_view key) {
    std::string_view value;
    if (!scanner.raw(value)) {
      return false;
    }
    if (key == name) {
      found = value;
    }
    return true;
  });
  return is_object ? found : std::string_view{};
}

}  // namespace json

Result<RawJson> RawJson::parse(std::string text) {
  json::Scanner scanner(text);
  if (!scanner.skip() || !scanner.end()) {
    return fail(Code::invalid_argument, scanner.fault().message);
  }
  if (const std::size_t good = utf8::valid_prefix(text); good != text.size()) {
    return fail(Code::invalid_argument, cat("not valid UTF-8 at byte ", good));
  }
  if (const std::string_view value = trimmed(text); value.size() != text.size()) {
    return RawJson(std::string(value));
  }
  return RawJson(std::move(text));
}

}  // namespace reprise
