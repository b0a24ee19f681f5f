#pragma once

// Session rows: made, found, changed. All inside the caller's transaction.

#include "reprise/store.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

// What a session shares with another one's messages.
struct Base {
  std::optional<std::string> session;  // whose messages before `count` are shared
  Seq count;
};

// conflict when the id exists. The head is base.count.
Result<> insert_session(Connection& connection, const Session& session, const Base& base);
Result<std::optional<Session>> find_session(Connection& connection, const SessionId& id);
Result<> update_session(Connection& connection, const SessionId& id, const SessionPatch& patch);
// The session's place in the lists: to be set with `updated_us` when that comes into another slot.
// Nothing in a database of version 1, which has none.
Result<> set_slot(Connection& connection, const SessionId& id, Time updated_at);
// not_found for an unknown session.
Result<> require_session(Connection& connection, const SessionId& id);

}  // namespace reprise::sqlite
