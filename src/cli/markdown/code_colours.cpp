#include <algorithm>

#include "base/code_tokens.h"
#include "base/terminal_text.h"
#include "cli/markdown/markdown_parts.h"
#include "cli/markdown/wrap.h"

namespace reprise::cli::app {
namespace {

constexpr Style kKeyword{.colour = Colour::magenta};
constexpr Style kString{.colour = Colour::green};
constexpr Style kNumber{.colour = Colour::cyan};

Style style_of(CodeToken token) {
  switch (token) {
    case CodeToken::comment:
      return kDim;
    case CodeToken::string:
      return kString;
    case CodeToken::number:
      return kNumber;
    case CodeToken::keyword:
      return kKeyword;
    case CodeToken::other:
      break;
  }
  return kPlain;
}

}  // namespace

std::vector<Line> coloured_code(std::string_view code, std::string_view language) {
  const std::string safe = terminal_text(code);
  std::vector<Line> out;
  for (std::string_view rest = safe;;) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    Line& line = out.emplace_back();
    for_each_code_token(
        expand_tabs(rest.substr(0, end)), language,
        [&line](std::string_view text, CodeToken token) { append(line, text, style_of(token)); });
    if (end == rest.size()) {
      return out;
    }
    rest.remove_prefix(end + 1);
  }
}

}  // namespace reprise::cli::app
