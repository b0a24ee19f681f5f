#include "cli/markdown/style.h"

#include "base/grapheme.h"

namespace reprise::cli::app {

void append(Line& line, std::string_view text, Style style) {
  if (text.empty()) {
    return;
  }
  if (!line.empty() && line.back().style == style) {
    line.back().text += text;
  } else {
    line.push_back({std::string(text), style});
  }
}

std::size_t width_of(const Line& line) {
  std::size_t width = 0;
  for (const Span& span : line) {
    width += display_width(span.text);
  }
  return width;
}

std::string text_of(const Line& line) {
  std::string out;
  for (const Span& span : line) {
    out += span.text;
  }
  return out;
}

}  // namespace reprise::cli::app
