#pragma once

// The statements of an append: one for all of it, or, where tables are distributed, first the head
// and then what it makes room for.

#include <set>

#include "store/postgres/connection.h"
#include "store/postgres/messages.h"
#include "store/postgres/sessions.h"

namespace reprise::postgres {

using Names = std::set<std::string, std::less<>>;

// Who holds the session has looked at its head already.
enum class Held : std::uint8_t { no, yes };

// `counted`: the requests whose usage was counted before.
struct Counted {
  const Key& key;
  const Batch& batch;
  const Names& names;
};
Query append_query(const Counted& append, Held held);
// What stands in other tables.
std::vector<Query> queries_beside(const Counted& append);

Query move_query(const Counted& append, Held held);
// All that follows from where the head was: what move_query() returned.
std::vector<Query> insert_queries(const Counted& append, const Rows& moved);

}  // namespace reprise::postgres
