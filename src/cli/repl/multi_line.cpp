#include "cli/repl/multi_line.h"

#include <algorithm>
#include <cstddef>

#include "base/text.h"
#include "base/utf8.h"

namespace reprise::cli {

namespace {

constexpr std::size_t kFenceMin = 3;

bool ends_in_backslash(std::string_view text) {
  const std::size_t last_other = text.find_last_not_of('\\');
  const std::size_t count =
      last_other == std::string_view::npos ? text.size() : text.size() - last_other - 1;
  return count % 2 == 1;
}

// The number of backticks if this line opens or closes a fence, else 0.
std::size_t fence_of(std::string_view line) {
  const std::string_view mark = line.substr(std::min(line.find_first_not_of(' '), line.size()));
  const std::size_t ticks = std::min(mark.find_first_not_of('`'), mark.size());
  return ticks >= kFenceMin ? ticks : 0;
}

bool has_open_fence(std::string_view text) {
  std::size_t open = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const std::size_t fence = fence_of(line);
    const std::string_view after = trimmed(line).substr(fence);
    if (open == 0 && fence > 0 && after.find('`') == std::string_view::npos) {
      open = fence;
    } else if (open > 0 && fence >= open && after.empty()) {
      open = 0;
    }
    at = end + 1;
  }
  return open > 0;
}

}  // namespace

bool needs_another_line(std::string_view text) {
  return has_open_fence(text) || ends_in_backslash(text);
}

void add_line(std::string& text, std::string_view line) {
  if (!has_open_fence(text) && ends_in_backslash(text)) {
    text.pop_back();
  }
  text += '\n';
  text += line;
}

std::string clean_paste(std::string_view pasted) {
  std::string out;
  out.reserve(pasted.size());
  for (std::size_t at = 0; at < pasted.size(); ++at) {
    const char c = pasted[at];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\r') {
      out += '\n';
      if (at + 1 < pasted.size() && pasted[at + 1] == '\n') {
        ++at;
      }
    } else if (c == '\n' || c == '\t' || (byte >= 0x20 && byte != 0x7f)) {
      out += c;
    }
  }
  out.erase(std::min(out.find_last_not_of('\n') + 1, out.size()));
  return utf8::sanitize(out);
}

}  // namespace reprise::cli
