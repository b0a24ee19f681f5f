#pragma once

// Creates, finds and changes a session's row, head and values, and its branches.
//
// Messages are rows of a branch, and are immutable. Branch 0 is the session's first; replacing a
// suffix creates a new branch, forking creates branch 0 of the child. A branch's own messages begin
// at its base_count; earlier ones belong to its base, another branch of this or another session.

#include <vector>

#include "reprise/store.h"
#include "reprise/types.h"
#include "store/postgres/connection.h"
#include "store/postgres/values.h"

namespace reprise::postgres {

// A session of a tenant: the first two parameters of a statement.
struct Key {
  const std::string& tenant;
  const SessionId& id;
};
template <class... Each>
Values values_of(const Key& key, const Each&... each) {
  return values(key.tenant, key.id.str(), each...);
}

// The statements that store a new session; the first one fails if the id exists. `name` identifies
// this creation.
Result<std::vector<Query>> creation(const Key& key, const Session& session, Seq head,
                                    std::string_view name);
struct AtomicCreation {
  Key key;
  std::vector<Query> queries;  // a whole transaction
  std::string name;
};
// conflict if the id exists, unless an earlier attempt of this creation stored it.
Result<> run_creation(Connection& connection, const AtomicCreation& creation, bool is_unsure);

// `flags`: whether the tables have flags.
Result<std::optional<Session>> find_session(Connection& connection, const Key& key);
Result<> update_session(Connection& connection, const Key& key, const SessionPatch& patch);

// Replaces a value; "" removes it.
void set_value(std::vector<Query>& queries, const Key& key, std::string_view name,
               std::string_view bytes);

// not_found if there is no such session.
Result<> require_session(Connection& connection, const Key& key);

// A new unique name for reprise_once.
std::string operation_name();

// Begins a transaction and locks the session until its end. The given statements run after that, in
// the same round trip.
struct Locked {
  Seq head = {};
  std::int64_t branch = 0;
  std::optional<std::string> answer = {};
  SessionState state = SessionState::active;
  std::vector<Rows> rows = {};  // of the statements
};
Result<Locked> lock_session(Connection& connection, const Key& key,
                            const std::vector<Query>& queries = {});
// The same, returning the session's list entry.
Result<SessionInfo> lock_info(Connection& connection, const Key& key);

struct Branch {
  SessionId session;
  std::int64_t number;
};

// A branch begins with the first `count` messages of its base.
struct Base {
  Branch branch;
  std::int64_t count;
};

// The current branch of a session.
struct Head {
  Branch branch;
  std::optional<Base> base;
  Seq seq;  // as stored: may be invalid
};
// In one round trip. not_found for an unknown session.
Result<Head> find_head(Connection& connection, const Key& key);

// The own messages of one branch in [from, to).
struct Segment {
  Branch branch;
  std::int64_t from;
  std::int64_t to;
};
// The branches of the messages [from, to), in ascending order, in a round trip for each base except
// the head's. corrupt for a cycle.
Result<std::vector<Segment>> segments_of(Connection& connection, const std::string& tenant,
                                         Head head, std::int64_t from, std::int64_t to);

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
