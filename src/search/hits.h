#pragma once

// The answer to a query: candidates of the index, verified by and read from their sources.

#include "reprise/search.h"
#include "search/document.h"
#include "search/finder.h"
#include "search/index_file.h"
#include "search/terms.h"

namespace reprise::search {

Result<SearchPage> find_hits(sqlite::Connection& db, std::span<const SearchSource> sources,
                             const SearchQuery& query);

// The order of relevance.

// The most relevant first; of equal ones the newest. `candidates` have counts, and `rarities` is
// how much each of the first phrases counts (rarity_of).
void rank(std::vector<Candidate>& candidates, const std::vector<double>& rarities);

// Of what stands in such a part of all messages.
double rarity_of(double density);

// The line around the terms of a query in a message.

struct Snippet {
  SearchPart part = SearchPart::text;
  std::vector<SearchPiece> pieces;
};

// From the part of the message with the most phrases in it, and there from where most of them stand
// together. The message's beginning when it has none of them.
Snippet snippet_of(const Texts& texts, const std::vector<Phrase>& phrases,
                   std::optional<SearchPart> only);

// Whether it has all phrases that must be there, and none of the others.
bool has_phrases(const Texts& texts, const std::vector<Phrase>& phrases,
                 std::optional<SearchPart> only);

}  // namespace reprise::search
