#pragma once

// The statements of an append: a single one, or, if tables are distributed and there is no function
// for it, first one that moves the head and then the inserts.

#include <set>

#include "store/postgres/connection.h"
#include "store/postgres/messages.h"
#include "store/postgres/sessions.h"

namespace reprise::postgres {

using Names = std::set<std::string, std::less<>>;

// done: the session is locked, and its head has already been checked.
enum class HeadCheck : std::uint8_t { in_query, done };

// `counted`: the requests whose usage was already counted.
struct Counted {
  const Key& key;
  const Batch& batch;
  const Names& names;
};
Query append_query(const Counted& append, HeadCheck head_check);
// The same by a function, of a batch for which it is_for_function().
Query call_query(const Counted& append);
// The statements for other tables.
std::vector<Query> dependent_queries(const Counted& append);

Query move_query(const Counted& append, HeadCheck head_check);
// All remaining statements, with the previous head that move_query() returned.
std::vector<Query> insert_queries(const Counted& append, const Rows& moved);

}  // namespace reprise::postgres
