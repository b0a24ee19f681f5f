#include "engine/one_line.h"

#include "base/text.h"
#include "base/utf8.h"

namespace reprise {
namespace {

// The C0 and C1 controls, the line and paragraph separators, and bidi controls.
bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 ||
         (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

std::string one_line(std::string_view text) {
  const std::string clean = utf8::sanitize(text);
  std::string_view rest = clean;
  std::string out;
  while (!rest.empty()) {
    const auto [c, bytes] = utf8::decode(rest);
    if (is_control(c) || c == ' ') {
      if (!out.empty() && out.back() != ' ') {
        out += ' ';
      }
    } else {
      out += rest.substr(0, bytes);
    }
    rest.remove_prefix(bytes);
  }
  return std::string(trimmed(out));
}

}  // namespace reprise
