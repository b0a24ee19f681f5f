#include <md4c.h>

#include <utility>

#include "cli/markdown/markdown_parts.h"

namespace reprise::cli::app {

Style style_within(MD_SPANTYPE type, Style outside) {
  Style style = outside;
  switch (type) {
    case MD_SPAN_EM:
      style.italic = true;
      break;
    case MD_SPAN_STRONG:
      style.bold = true;
      break;
    case MD_SPAN_CODE:
      style.colour = Colour::cyan;
      break;
    case MD_SPAN_A:
      style.underline = true;
      break;
    default:
      break;
  }
  return style;
}

std::string_view meaning_of_entity(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kKnown[] = {
      {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&nbsp;", " "}};
  for (const auto& [name, meaning] : kKnown) {
    if (text == name) {
      return meaning;
    }
  }
  return text;
}

}  // namespace reprise::cli::app
