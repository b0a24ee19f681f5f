#pragma once

// The line around the terms of a query in a message.

#include <vector>

#include "search/document.h"
#include "search/terms.h"

namespace reprise::search {

struct Snippet {
  SearchPart part = SearchPart::text;
  std::vector<SearchPiece> pieces;
};

// From the part of the message with the most phrases in it, and there from where most of them stand
// together. The message's beginning when it has none of them.
Snippet snippet_of(const Texts& texts, const std::vector<Phrase>& phrases,
                   std::optional<SearchPart> only);

}  // namespace reprise::search
