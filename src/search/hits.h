#pragma once

// Answers a query: candidates from the index, verified by and read from their sources.

#include <utility>  // IWYU pragma: export
#include <vector>   // IWYU pragma: export

#include "reprise/search.h"   // IWYU pragma: export
#include "search/document.h"  // IWYU pragma: export
#include "search/finder.h"    // IWYU pragma: export
#include "search/index_file.h"
#include "search/terms.h"  // IWYU pragma: export

namespace reprise::search {

// Call in a transaction: the index must not change meanwhile.
Result<SearchPage> find_hits(sqlite::Connection& db, std::span<const SearchSource> sources,
                             const SearchQuery& query);

// Sorting by relevance.

// The most relevant first; ties are sorted newest first. `candidates` have counts, and `rarities`
// are the weights of the included phrases (rarity_of).
void rank(std::vector<Candidate>& candidates, const std::vector<double>& rarities);

// The weight of a phrase that occurs in this fraction of all messages.
double rarity_of(double density);

// The line around the terms of a query in a message.

struct Snippet {
  SearchPart part = SearchPart::text;
  std::vector<SearchPiece> pieces;
};

// Taken from the part of the message with the most phrases, where most of them are close together.
// The start of the message if it has none of them.
Snippet snippet_of(const Texts& texts, const std::vector<Phrase>& phrases,
                   std::optional<SearchPart> only);

// Whether the message has all included phrases, and none of the excluded ones.
bool has_phrases(const Texts& texts, const std::vector<Phrase>& phrases,
                 std::optional<SearchPart> only);

}  // namespace reprise::search
