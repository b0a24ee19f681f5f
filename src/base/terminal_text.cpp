#include "base/terminal_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/utf8.h"

namespace reprise {
namespace {

enum class Kind : std::uint8_t { shown, control, hidden, line_end, tab };

struct Range {
  char32_t first;
  char32_t last;
};

// Bidi controls, invisible characters, tags; see (2).
constexpr Range kHidden[] = {
    {0x00AD, 0x00AD}, {0x061C, 0x061C}, {0x180E, 0x180E}, {0x200B, 0x200B}, {0x200E, 0x200F},
    {0x202A, 0x202E}, {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE0FFF},
};

constexpr char32_t kControlPictures = 0x2400;
constexpr char32_t kDeletePicture = 0x2421;

Kind kind_of(char32_t c) {
  if (c == '\n' || c == 0x2028 || c == 0x2029) {
    return Kind::line_end;
  }
  if (c == '\t') {
    return Kind::tab;
  }
  if (c < 0x20 || (c >= 0x7F && c < 0xA0)) {
    return Kind::control;
  }
  const bool hidden =
      c >= kHidden[0].first && std::ranges::any_of(kHidden, [&](const Range& range) {
        return c >= range.first && c <= range.last;
      });
  return hidden ? Kind::hidden : Kind::shown;
}

void append_control(std::string& out, char32_t c) {
  if (c < 0x20) {
    utf8::append(out, kControlPictures + c);
  } else if (c == 0x7F) {
    utf8::append(out, kDeletePicture);
  } else {
    out += utf8::kReplacement;
  }
}

bool is_plain(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](char c) { return c >= 0x20 && c < 0x7F; });
}

std::string clean(std::string_view bytes, bool one_line) {
  if (is_plain(bytes)) {
    return std::string(bytes);
  }
  const std::string text = utf8::sanitize(bytes);
  std::string out;
  out.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    const utf8::Decoded next = utf8::decode(rest);
    switch (kind_of(next.code_point)) {
      case Kind::shown:
        out += rest.substr(0, next.bytes);
        break;
      case Kind::control:
        if (!rest.starts_with("\r\n")) {
          append_control(out, next.code_point);
        }
        break;
      case Kind::hidden:
        break;
      case Kind::line_end:
        out += one_line ? ' ' : '\n';
        break;
      case Kind::tab:
        out += one_line ? ' ' : '\t';
        break;
    }
    rest.remove_prefix(next.bytes);
  }
  return out;
}

void append_unit(std::string& out, char32_t unit) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += "\\u";
  for (const unsigned shift : {12U, 8U, 4U, 0U}) {
    out += kHex[(unit >> shift) & 0xFU];
  }
}

void append_escaped(std::string& out, char32_t c) {
  if (c < 0x10000) {
    append_unit(out, c);
    return;
  }
  append_unit(out, 0xD800 + ((c - 0x10000) >> 10U));
  append_unit(out, 0xDC00 + ((c - 0x10000) & 0x3FFU));
}

}  // namespace

std::string terminal_text(std::string_view bytes) {
  return clean(bytes, false);
}

std::string terminal_line(std::string_view bytes) {
  return clean(bytes, true);
}

std::string terminal_json(std::string_view json) {
  if (is_plain(json)) {
    return std::string(json);
  }
  std::string out;
  out.reserve(json.size());
  for (std::string_view rest = json; !rest.empty();) {
    const utf8::Decoded next = utf8::decode(rest);
    const Kind kind = kind_of(next.code_point);
    // In JSON, controls below U+0020 occur only as whitespace between tokens.
    if (next.code_point >= 0x7F && (kind == Kind::control || kind == Kind::hidden)) {
      append_escaped(out, next.code_point);
    } else {
      out += rest.substr(0, next.bytes);
    }
    rest.remove_prefix(next.bytes);
  }
  return out;
}

std::string TerminalGate::pass(std::string_view bytes) {
  std::string text = std::exchange(pending_, {});
  text += bytes;
  std::size_t keep = utf8::incomplete_tail(text);
  if (keep == 0 && text.ends_with('\r')) {
    keep = 1;
  }
  pending_ = text.substr(text.size() - keep);
  text.resize(text.size() - keep);
  return terminal_text(text);
}

std::string TerminalGate::finish() {
  return terminal_text(std::exchange(pending_, {}));
}

}  // namespace reprise
