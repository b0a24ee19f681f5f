#pragma once

// The terms of a query as phrases of folded words, and as an expression of FTS5.

#include "reprise/search.h"  // IWYU pragma: export

namespace reprise::search {

// Consecutive words.
struct Phrase {
  std::vector<std::string> words;
  bool prefix = false;  // the last word is a prefix
  bool without = false;
  std::vector<std::string> completions = {};  // all words with the prefix, of a single word
  friend bool operator==(const Phrase&, const Phrase&) = default;
};

// invalid_argument as documented for parse_search().
Result<std::vector<Phrase>> phrases_of(const std::vector<SearchTerm>& terms);

// Matches documents with all included phrases, without the excluded ones, and with one token of
// each list. Only folded words of the query are used. Included phrases come first.
std::string match_expression(const std::vector<Phrase>& phrases, std::optional<SearchPart> only,
                             const std::vector<std::vector<std::string>>& tokens);

}  // namespace reprise::search
