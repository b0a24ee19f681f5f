#include "base/fold.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <memory>

#include "base/text.h"
#include "base/utf8.h"

namespace reprise {
namespace {

bool is_atomic(char32_t code_point) {
  return (code_point >= 0x3040 && code_point <= 0x30FF) ||
         (code_point >= 0xAC00 && code_point <= 0xD7FF);
}

// Letters with their accents as one character where there is one; the text itself without memory.
std::string composed(const std::string& text) {
  // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): flags
  constexpr auto kOptions = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  utf8proc_uint8_t* bytes = nullptr;
  const utf8proc_ssize_t count =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &bytes, kOptions);
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(bytes, &std::free);
  return count < 0
             ? text
             : std::string(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
}

}  // namespace

void append_folded(std::string& out, char32_t code_point) {
  if (is_atomic(code_point)) {
    utf8::append(out, code_point);
    return;
  }
  // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): flags
  constexpr auto kOptions = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT |
                                                           UTF8PROC_CASEFOLD | UTF8PROC_STRIPMARK);
  std::array<utf8proc_int32_t, 20> parts{};  // the longest decomposition is shorter
  int boundary = 0;
  const auto count =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code_point), parts.data(),
                              static_cast<utf8proc_ssize_t>(parts.size()), kOptions, &boundary);
  for (utf8proc_ssize_t i = 0; i < std::min<utf8proc_ssize_t>(count, std::ssize(parts)); ++i) {
    utf8::append(out, static_cast<char32_t>(parts.at(static_cast<std::size_t>(i))));
  }
}

std::string folded(std::string_view text) {
  if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
    return ascii_lower(text);
  }
  const std::string whole = composed(utf8::sanitize(text));
  std::string out;
  for (std::string_view rest = whole; !rest.empty();) {
    const auto [code_point, bytes] = utf8::decode(rest);
    append_folded(out, code_point);
    rest.remove_prefix(bytes);
  }
  return out;
}

}  // namespace reprise
