#pragma once

// Where a session's messages stand. They are rows of a branch of a session, and never move or
// change. Branch 0 is the session's first; replacing a suffix begins a new branch, forking begins
// branch 0 of the child. A branch's own messages begin at its base_count; what comes before is its
// base's, another branch of this or another session.

#include <vector>

#include "reprise/types.h"
#include "store/postgres/connection.h"
#include "store/postgres/sessions.h"

namespace reprise::postgres {

struct Branch {
  SessionId session;
  std::int64_t number;
};

// Own messages of one branch in [from, to).
struct Segment {
  Branch branch;
  std::int64_t from;
  std::int64_t to;
};
// Where the messages [from, to) stand, in ascending order. corrupt for a circle.
Result<std::vector<Segment>> segments_of(Connection& connection, const std::string& tenant,
                                         Branch branch, std::int64_t from, std::int64_t to);

// The branch whose own messages reach up to `at`: chains stay as short as they can be. nullopt when
// there is nothing before it.
Result<std::optional<Branch>> base_for(Connection& connection, const std::string& tenant,
                                       Branch branch, Seq at);

// What lets the session go on from `from` in a new branch. Its head must be held.
Result<std::vector<Query>> branch_off(Connection& connection, const Key& key, std::int64_t branch,
                                      Seq from);

// The session's own messages that its branch no longer shows. not_found for an unknown session.
Result<std::vector<Segment>> replaced_segments(Connection& connection, const Key& key);
// How many these are.
Result<std::int64_t> count_replaced(Connection& connection, const Key& key);

// Begins `number` of the session with the first `at` messages of `base`.
Query insert_branch(const Key& key, std::int64_t number, const Branch& base, Seq at);

}  // namespace reprise::postgres
