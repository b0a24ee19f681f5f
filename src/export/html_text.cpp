#include "export/html_text.h"

#include <algorithm>
#include <array>

#include "base/code_tokens.h"
#include "base/terminal_text.h"
#include "base/text.h"

namespace reprise::exporting {
namespace {

std::string_view class_of(CodeToken token) {
  switch (token) {
    case CodeToken::comment:
      return "c";
    case CodeToken::string:
      return "s";
    case CodeToken::number:
      return "n";
    case CodeToken::keyword:
      return "k";
    case CodeToken::other:
      break;
  }
  return "";
}

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  append_escaped(out, terminal_text(text));
  return out;
}

std::string html_of_code(std::string_view code, std::string_view language) {
  const std::string safe = terminal_text(code);
  std::string out;
  for (std::string_view rest = safe; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    for_each_code_token(rest.substr(0, end), language,
                        [&out](std::string_view text, CodeToken token) {
                          const std::string_view name = class_of(token);
                          if (!name.empty()) {
                            out += cat("<span class=\"", name, "\">");
                          }
                          append_escaped(out, text);
                          out += name.empty() ? "" : "</span>";
                        });
    out += end < rest.size() ? "\n" : "";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

bool is_plain_link(std::string_view target) {
  constexpr auto kSchemes = std::to_array<std::string_view>({"https://", "http://", "mailto:"});
  return std::ranges::any_of(kSchemes, [target](std::string_view scheme) {
    return ascii_lower(target.substr(0, scheme.size())) == scheme;
  });
}

}  // namespace reprise::exporting
