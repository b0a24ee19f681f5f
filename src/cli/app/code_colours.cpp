#include "cli/app/code_colours.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/app/style.h"
#include "cli/app/wrap.h"

namespace reprise::cli::app {
namespace {

constexpr Style kKeyword{.colour = Colour::magenta};
constexpr Style kString{.colour = Colour::green};
constexpr Style kNumber{.colour = Colour::cyan};

// In the order of std::ranges::binary_search.
constexpr auto kKeywords = std::to_array<std::string_view>(
    {"and",     "as",     "async",  "auto",     "await",    "bool",     "break",     "case",
     "catch",   "class",  "const",  "continue", "def",      "do",       "done",      "elif",
     "else",    "end",    "enum",   "esac",     "except",   "export",   "false",     "fi",
     "finally", "fn",     "for",    "from",     "func",     "function", "if",        "import",
     "in",      "int",    "is",     "let",      "match",    "mut",      "namespace", "new",
     "nil",     "not",    "null",   "or",       "package",  "private",  "public",    "return",
     "self",    "static", "struct", "switch",   "template", "then",     "this",      "throw",
     "true",    "try",    "type",   "typename", "use",      "using",    "var",       "void",
     "while",   "with",   "yield"});
static_assert(std::ranges::is_sorted(kKeywords));

bool is_word(char c) {
  return is_ascii_alnum(c) || c == '_';
}

bool hash_comments(std::string_view language) {
  constexpr auto kSlashes = std::to_array<std::string_view>(
      {"c",    "c++",    "cpp", "cs",   "css", "go",    "h",     "hpp", "java", "javascript", "js",
       "json", "kotlin", "php", "rust", "rs",  "scala", "swift", "ts",  "tsx",  "typescript"});
  return std::ranges::find(kSlashes, language) == kSlashes.end();
}

// The length of the string literal at the beginning; the whole rest when it does not end.
std::size_t string_length(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == text.front()) {
      return i + 1;
    }
  }
  return text.size();
}

Line coloured_line(std::string_view text, bool hash) {
  Line out;
  while (!text.empty()) {
    const char c = text.front();
    std::size_t length = 1;
    Style style;
    if (text.starts_with("//") || (hash && c == '#')) {
      length = text.size();
      style = kDim;
    } else if (c == '"' || c == '\'' || c == '`') {
      length = string_length(text);
      style = length > 1 && (length < text.size() || text.back() == c) ? kString : kPlain;
      length = style == kString ? length : 1;  // an apostrophe
    } else if (is_word(c)) {
      const auto* const end = std::ranges::find_if_not(text, is_word);
      length = static_cast<std::size_t>(end - text.begin());
      if (is_ascii_digit(c)) {
        style = kNumber;
      } else if (std::ranges::binary_search(kKeywords, text.substr(0, length))) {
        style = kKeyword;
      }
    }
    append(out, text.substr(0, length), style);
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace

std::vector<Line> coloured_code(std::string_view code, std::string_view language) {
  const std::string safe = terminal_text(code);
  const bool hash = hash_comments(ascii_lower(language));
  std::vector<Line> out;
  for (std::string_view rest = safe;;) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    out.push_back(coloured_line(expand_tabs(rest.substr(0, end)), hash));
    if (end == rest.size()) {
      return out;
    }
    rest.remove_prefix(end + 1);
  }
}

}  // namespace reprise::cli::app
