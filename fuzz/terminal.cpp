// The filter for terminal output: it emits no control sequences, however the text is divided, and
// leaves its own output unchanged.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/terminal_text.h"
#include "base/utf8.h"
#include "fuzzing.h"

using reprise::fuzz::require;

namespace {

void check(std::string_view out, bool is_line) {
  require(reprise::utf8::is_valid(out), "not UTF-8");
  require(std::ranges::none_of(out,
                               [is_line](char c) {
                                 const bool is_allowed = !is_line && (c == '\n' || c == '\t');
                                 return (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) &&
                                        !is_allowed;
                               }),
          "a control character");
  for (std::size_t at = 0; (at = out.find('\xC2', at)) != std::string_view::npos; ++at) {
    require(at + 1 < out.size() && static_cast<unsigned char>(out[at + 1]) >= 0xA0, "a C1 control");
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = reprise::fuzz::text_of(data, size);
  const std::string whole = reprise::terminal_text(bytes);
  check(whole, false);
  require(reprise::terminal_text(whole) == whole, "not unchanged the second time");
  check(reprise::terminal_line(bytes), true);
  reprise::TerminalSanitizer gate;
  std::string pieces;
  for (std::size_t at = 0; at < size;) {
    const std::size_t length = std::min<std::size_t>(size - at, data[at] % 5U + 1U);
    pieces += gate.pass(bytes.substr(at, length));
    at += length;
  }
  require(pieces + gate.finish() == whole, "cutting the text changes it");
  return 0;
}
