#include "search/terms.h"

#include <algorithm>
#include <array>

#include "base/terminal_text.h"
#include "base/text.h"
#include "base/utf8.h"
#include "reprise/error.h"
#include "reprise/types.h"
#include "search/fold.h"

namespace reprise {
namespace {

constexpr std::array<std::string_view, 3> kPartNames = {"text", "thinking", "tools"};
constexpr std::size_t kQueryBytesMax = 4096;

bool is_blank(char c) {
  return static_cast<unsigned char>(c) <= ' ';
}

// Parses one term, and removes it from the text.
SearchTerm take_term(std::string_view& text) {
  SearchTerm term;
  if (text.size() > 1 && text.front() == '-') {
    term.without = true;
    text.remove_prefix(1);
  }
  if (text.front() == '"') {
    const std::size_t end = std::min(text.find('"', 1), text.size());
    term.text = text.substr(1, end - 1);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (text.starts_with('*')) {
      term.prefix = true;
      text.remove_prefix(1);
    }
    return term;
  }
  const auto* const end =
      std::ranges::find_if(text, [](char c) { return is_blank(c) || c == '"'; });
  term.text = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(term.text.size());
  if (term.text.size() > 1 && term.text.ends_with('*')) {
    term.prefix = true;
    term.text.pop_back();
  }
  return term;
}

// Truncates for an error message, without line ends.
std::string one_line(std::string_view text) {
  constexpr std::size_t kCharactersMax = 40;
  const std::string_view begin = grapheme_prefix(text, kCharactersMax);
  std::string out(begin);
  std::ranges::replace_if(out, [](char c) { return is_blank(c) || c == '\x7F'; }, ' ');
  return begin.size() < text.size() ? cat(out, "…") : out;
}

}  // namespace

std::string_view to_string(SearchPart part) {
  return kPartNames.at(static_cast<std::size_t>(part));
}

std::optional<SearchPart> parse_search_part(std::string_view text) {
  const auto* const found = std::ranges::find(kPartNames, text);
  if (found == kPartNames.end()) {
    return std::nullopt;
  }
  return static_cast<SearchPart>(found - kPartNames.begin());
}

Result<std::vector<SearchTerm>> parse_search(std::string_view text) {
  if (text.size() > kQueryBytesMax) {
    return fail(Code::invalid_argument,
                cat("a search can have at most ", kQueryBytesMax, " bytes"));
  }
  std::vector<SearchTerm> terms;
  while (true) {
    while (!text.empty() && is_blank(text.front())) {
      text.remove_prefix(1);
    }
    if (text.empty()) {
      break;
    }
    terms.push_back(take_term(text));
  }
  REPRISE_TRY(search::phrases_of(terms));
  return terms;
}

namespace search {

Result<std::vector<Phrase>> phrases_of(const std::vector<SearchTerm>& terms) {
  if (terms.size() > kSearchTermsMax) {
    return fail(Code::invalid_argument,
                cat("a search can have at most ", kSearchTermsMax, " words"));
  }
  std::vector<Phrase> phrases;
  for (const SearchTerm& term : terms) {
    Phrase phrase{.words = {}, .prefix = term.prefix, .without = term.without};
    const std::string text = utf8::sanitize(term.text);
    bool ends_in_pair = false;
    for (Words words(text); words.next();) {
      phrase.words.push_back(words.folded());
      ends_in_pair = words.is_pair();
    }
    if (phrase.words.empty()) {
      return fail(Code::invalid_argument,
                  cat("'", one_line(text), "' has no letter or digit to search for"));
    }
    if (ends_in_pair) {
      // A single last character: it is part of the preceding bigram, or the start of one in the
      // text.
      const std::size_t count = phrase.words.size();
      const bool follows_pair = count > 1 &&
                                phrase.words[count - 2].size() > phrase.words.back().size() &&
                                phrase.words[count - 2].ends_with(phrase.words.back());
      if (follows_pair) {
        phrase.words.pop_back();
      }
      phrase.prefix = !follows_pair;
    }
    phrases.push_back(std::move(phrase));
  }
  if (std::ranges::all_of(phrases, &Phrase::without)) {
    return fail(Code::invalid_argument, phrases.empty() ? "nothing to search for: name a word"
                                                        : "add a word that must occur");
  }
  std::ranges::stable_partition(phrases, [](const Phrase& phrase) { return !phrase.without; });
  return phrases;
}

namespace {

std::string any_of(const std::vector<std::string>& words) {
  std::string out = "(";
  for (const std::string& word : words) {
    out += cat(&word == &words.front() ? "\"" : " OR \"", word, "\"");
  }
  return cat(out, ")");
}

std::string expression_of(const Phrase& phrase) {
  if (!phrase.completions.empty()) {
    return any_of(phrase.completions);
  }
  std::string out = "\"";
  for (const std::string& word : phrase.words) {
    out += cat(&word == &phrase.words.front() ? "" : " ", word);
  }
  return cat(out, phrase.prefix ? "\" *" : "\"");
}

}  // namespace

std::string match_expression(const std::vector<Phrase>& phrases, std::optional<SearchPart> only,
                             const std::vector<std::vector<std::string>>& tokens) {
  std::string required;
  std::string excluded;
  for (const Phrase& phrase : phrases) {
    std::string& out = phrase.without ? excluded : required;
    out += out.empty() ? "" : (phrase.without ? " OR " : " AND ");
    out += expression_of(phrase);
  }
  const std::string column = only ? cat("{", to_string(*only), "} : ") : "";
  std::string expression = cat(column, "(", required, ")");
  if (!excluded.empty()) {
    expression = cat("(", expression, " NOT ", column, "(", excluded, "))");
  }
  for (const std::vector<std::string>& alternatives : tokens) {
    expression += cat(" AND ", any_of(alternatives));
  }
  return expression;
}

}  // namespace search
}  // namespace reprise
