#pragma once

// The branches of a session. Messages are rows of a branch, and are immutable. Branch 0 is the
// session's first; replacing a suffix creates a new branch, forking creates branch 0 of the child.
// A branch's own messages begin at its base_count; earlier ones belong to its base, another branch
// of this or another session.

#include <vector>

#include "reprise/types.h"
#include "store/postgres/connection.h"
#include "store/postgres/sessions.h"

namespace reprise::postgres {

struct Branch {
  SessionId session;
  std::int64_t number;
};

// The own messages of one branch in [from, to).
struct Segment {
  Branch branch;
  std::int64_t from;
  std::int64_t to;
};
// The branches of the messages [from, to), in ascending order. corrupt for a cycle.
Result<std::vector<Segment>> segments_of(Connection& connection, const std::string& tenant,
                                         Branch branch, std::int64_t from, std::int64_t to);

// The branch whose own messages extend to `at`, so that chains are as short as possible. nullopt if
// there are no messages before it.
Result<std::optional<Branch>> base_for(Connection& connection, const std::string& tenant,
                                       Branch branch, Seq at);

// The statements that continue the session from `from` in a new branch. Its head must be locked.
Result<std::vector<Query>> branch_off(Connection& connection, const Key& key, std::int64_t branch,
                                      Seq from);

// The session's own messages that are not in its current branch. not_found for an unknown session.
Result<std::vector<Segment>> replaced_segments(Connection& connection, const Key& key);
// The number of these messages.
Result<std::int64_t> count_replaced(Connection& connection, const Key& key);

// Creates branch `number` of the session with the first `at` messages of `base`.
Query insert_branch(const Key& key, std::int64_t number, const Branch& base, Seq at);

}  // namespace reprise::postgres
