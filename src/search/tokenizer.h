#pragma once

// FTS5 extensions: the tokenizer of our words, and a count of each phrase in a row.

#include "reprise/error.h"

namespace reprise::sqlite {
class Connection;
}

namespace reprise::search {

// A document may start with tokens that are not words (document.h): between these two, separated by
// blanks. Words never contain control characters, so they cannot be confused.
inline constexpr char kAttributesBegin = '\x01';
inline constexpr char kAttributesEnd = '\x02';

// Registers for this connection the tokenizer "reprise", which takes the strings of a query as
// folded tokens separated by blanks, and the function reprise_counts(TABLE), which returns one byte
// per phrase, at most 255. unsupported when this SQLite was built without FTS5.
Result<> add_tokenizer(sqlite::Connection& connection);

}  // namespace reprise::search
