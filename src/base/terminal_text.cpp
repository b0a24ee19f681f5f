#include "base/terminal_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"

namespace reprise {
namespace {

enum class Kind : std::uint8_t { printable, control, hidden, line_end, tab };

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
  return hidden ? Kind::hidden : Kind::printable;
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
  for (std::string_view remaining = text; !remaining.empty();) {
    const utf8::Decoded next = utf8::decode(remaining);
    switch (kind_of(next.code_point)) {
      case Kind::printable:
        out += remaining.substr(0, next.bytes);
        break;
      case Kind::control:
        if (!remaining.starts_with("\r\n")) {
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
    remaining.remove_prefix(next.bytes);
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

constexpr char32_t kEmojiPresentation = 0xFE0F;

bool is_plain_ascii(char c) {
  return c >= ' ' && c <= '~';
}

bool is_flag_letter(char32_t code_point) {
  return code_point >= 0x1F1E6 && code_point <= 0x1F1FF;
}

// The first character of `text`, and its length in bytes; length 0 for invalid UTF-8.
utf8::Decoded decode_or_none(std::string_view text) {
  const std::size_t valid = utf8::valid_prefix(text.substr(0, 4));
  return valid == 0 ? utf8::Decoded{0, 0} : utf8::decode(text.substr(0, valid));
}

struct Cluster {
  std::size_t bytes = 0;
  std::size_t columns = 0;
};

std::size_t columns_of(char32_t code_point) {
  const int width = utf8proc_charwidth(static_cast<utf8proc_int32_t>(code_point));
  return width > 0 ? static_cast<std::size_t>(width) : 0;
}

Cluster first_cluster(std::string_view text) {
  if (is_plain_ascii(text.front()) && (text.size() == 1 || is_plain_ascii(text[1]))) {
    return {1, 1};
  }
  auto current = decode_or_none(text);
  if (current.bytes == 0) {
    return {1, 1};
  }
  Cluster cluster{current.bytes, columns_of(current.code_point)};
  const bool flag = is_flag_letter(current.code_point);
  std::int32_t state = 0;
  while (cluster.bytes < text.size()) {
    const auto next = decode_or_none(text.substr(cluster.bytes));
    if (next.bytes == 0 ||
        utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(current.code_point),
                                         static_cast<utf8proc_int32_t>(next.code_point), &state)) {
      break;
    }
    cluster.bytes += next.bytes;
    // utf8proc assigns flags one column; terminals show two.
    if (flag || next.code_point == kEmojiPresentation) {
      cluster.columns = 2;
    }
    cluster.columns = std::max(cluster.columns, columns_of(next.code_point));
    current = next;
  }
  return cluster;
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
  for (std::string_view remaining = json; !remaining.empty();) {
    const utf8::Decoded next = utf8::decode(remaining);
    const Kind kind = kind_of(next.code_point);
    // In JSON, controls below U+0020 occur only as whitespace between tokens.
    if (next.code_point >= 0x7F && (kind == Kind::control || kind == Kind::hidden)) {
      append_escaped(out, next.code_point);
    } else {
      out += remaining.substr(0, next.bytes);
    }
    remaining.remove_prefix(next.bytes);
  }
  return out;
}

std::string TerminalSanitizer::pass(std::string_view bytes) {
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

std::string TerminalSanitizer::finish() {
  return terminal_text(std::exchange(pending_, {}));
}

std::string lower_case(std::string_view text) {
  std::string out = ascii_lower(text);
  for (std::size_t at = 0; at < out.size();) {
    const auto bytes = static_cast<unsigned char>(out[at]) < 0x80U
                           ? std::size_t{1}
                           : utf8::valid_prefix(std::string_view(out).substr(at, 4));
    if (bytes <= 1) {
      ++at;
      continue;
    }
    const utf8::Decoded upper = utf8::decode(std::string_view(out).substr(at, bytes));
    std::string lower;
    utf8::append(lower, static_cast<char32_t>(
                            utf8proc_tolower(static_cast<utf8proc_int32_t>(upper.code_point))));
    if (lower.size() == upper.bytes) {
      out.replace(at, lower.size(), lower);
    }
    at += upper.bytes;
  }
  return out;
}

std::size_t first_grapheme(std::string_view text) {
  return text.empty() ? 0 : first_cluster(text).bytes;
}

std::string_view grapheme_prefix(std::string_view text, std::size_t count) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count && bytes < text.size(); ++i) {
    bytes += first_cluster(text.substr(bytes)).bytes;
  }
  return text.substr(0, bytes);
}

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const auto cluster = first_cluster(text);
    columns += cluster.columns;
    text.remove_prefix(cluster.bytes);
  }
  return columns;
}

std::string_view width_prefix(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const auto cluster = first_cluster(text.substr(bytes));
    if (cluster.columns > columns) {
      break;
    }
    columns -= cluster.columns;
    bytes += cluster.bytes;
  }
  return text.substr(0, bytes);
}

}  // namespace reprise
