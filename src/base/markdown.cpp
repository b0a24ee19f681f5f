#include "base/markdown.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/dynamic_library.h"
#include "base/text.h"
#include "reprise/error.h"

namespace reprise {
namespace {

// Sorted for std::ranges::binary_search.
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
  return std::ranges::find(kSlashes, ascii_lower(language)) == kSlashes.end();
}

// The length of the string literal at the start; all of the text if it is unterminated.
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

struct Part {
  std::size_t length;
  CodeToken token;
};

Part first_part(std::string_view text, bool hash) {
  const char c = text.front();
  if (text.starts_with("//") || (hash && c == '#')) {
    return {text.size(), CodeToken::comment};
  }
  if (c == '"' || c == '\'' || c == '`') {
    const std::size_t length = string_length(text);
    const bool ends = length > 1 && (length < text.size() || text.back() == c);
    return ends ? Part{length, CodeToken::string} : Part{1, CodeToken::other};  // an apostrophe
  }
  if (!is_word(c)) {
    return {1, CodeToken::other};
  }
  const auto* const end = std::ranges::find_if_not(text, is_word);
  const auto length = static_cast<std::size_t>(end - text.begin());
  if (is_ascii_digit(c)) {
    return {length, CodeToken::number};
  }
  const bool is_keyword = std::ranges::binary_search(kKeywords, text.substr(0, length));
  return {length, is_keyword ? CodeToken::keyword : CodeToken::other};
}

}  // namespace

Result<const MarkdownLibrary*> markdown_library() {
  static const auto loaded =
      load_library<MarkdownLibrary>("md4c (Debian's libmd4c0)", {"libmd4c.so.0", "libmd4c.so"});
  return loaded;
}

void for_each_code_token(std::string_view line, std::string_view language,
                         const std::function<void(std::string_view text, CodeToken token)>& sink) {
  const bool hash = hash_comments(language);
  while (!line.empty()) {
    const Part part = first_part(line, hash);
    sink(line.substr(0, part.length), part.token);
    line.remove_prefix(part.length);
  }
}

}  // namespace reprise
