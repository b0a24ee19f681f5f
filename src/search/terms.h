#pragma once

// The terms of a query as phrases of folded words, and as an expression of FTS5.

#include "reprise/search.h"

namespace reprise::search {

// Words one after the other.
struct Phrase {
  std::vector<std::string> words;
  bool prefix = false;  // the last one may go on
  bool without = false;
};

// invalid_argument as parse_search() says.
Result<std::vector<Phrase>> phrases_of(const std::vector<SearchTerm>& terms);

// Matches what has all phrases, where they are wanted, and of each list of tokens one. Nothing of
// it but folded words comes from the query. The phrases that must be there come first.
std::string match_expression(const std::vector<Phrase>& phrases, std::optional<SearchPart> only,
                             const std::vector<std::vector<std::string>>& tokens);

}  // namespace reprise::search
