#pragma once

// What FTS5 is taught: our words, and how often each phrase of a query stands in a row.

#include "reprise/error.h"

namespace reprise::sqlite {
class Connection;
}

namespace reprise::search {

// A document may begin with tokens that are no words of it (facts.h): between these two, parted by
// blanks. Words never hold control characters, so that none is taken for the other.
inline constexpr char kFactsBegin = '\x01';
inline constexpr char kFactsEnd = '\x02';

// For this connection: the tokenizer "reprise", which takes the strings of a query as tokens that
// are folded already and parted by blanks, and the function reprise_counts(TABLE), which has a byte
// for each phrase, at most 255. unsupported when this SQLite was built without FTS5.
Result<> add_tokenizer(sqlite::Connection& connection);

}  // namespace reprise::search
