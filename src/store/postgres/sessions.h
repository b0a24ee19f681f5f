#pragma once

// Creating, finding and changing a session's row, head and values.

#include "reprise/store.h"
#include "store/postgres/connection.h"
#include "store/postgres/values.h"

namespace reprise::postgres {

// A tenant's session, as the first two parameters of a statement.
struct Key {
  const std::string& tenant;
  const SessionId& id;
};
template <class... Each>
Values values_of(const Key& key, const Each&... each) {
  return values(key.tenant, key.id.str(), each...);
}

// The statements that store a new session; the first one refuses an id that exists. `name` is what
// this creation is looked up by.
Result<std::vector<Query>> creation(const Key& key, const Session& session, Seq head,
                                    std::string_view name);
struct Creation {
  Key key;
  std::vector<Query> queries;  // a whole transaction
  std::string name;
};
// conflict when the id exists, unless this very creation made it before and was not answered.
Result<> run_creation(Connection& connection, const Creation& creation, bool is_unsure);

// `flags`: its tables have them.
Result<std::optional<Session>> find_session(Connection& connection, const Key& key, bool flags);
Result<> update_session(Connection& connection, const Key& key, const SessionPatch& patch);

// Puts a value in place of what was there; "" for none.
void set_value(std::vector<Query>& queries, const Key& key, std::string_view name,
               std::string_view bytes);

// not_found when there is no such session.
Result<> require_session(Connection& connection, const Key& key);

// A name in reprise_once that nobody had before.
std::string operation_name();

// In a transaction that it begins: nobody else changes the session until its end. The statements
// run with it, after it.
struct Locked {
  Seq head = {};
  std::int64_t branch = 0;
  std::optional<std::string> answer = {};
  SessionState state = SessionState::active;
  std::vector<Rows> rows = {};  // of the statements
};
Result<Locked> lock_session(Connection& connection, const Key& key,
                            const std::vector<Query>& queries = {});
// The same, for what lists show of it.
Result<SessionInfo> lock_info(Connection& connection, const Key& key);

}  // namespace reprise::postgres
