#pragma once

// Creates, finds and changes session rows. All inside the caller's transaction.

#include "reprise/store.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

// The messages that a session shares with another one.
struct Base {
  std::optional<std::string> session;  // the session whose messages before `count` are shared
  Seq count;
};

// conflict if the id exists. The head is base.count.
Result<> insert_session(Connection& connection, const Session& session, const Base& base);
Result<std::optional<Session>> find_session(Connection& connection, const SessionId& id);
Result<> update_session(Connection& connection, const SessionId& id, const SessionPatch& patch);
// Sets the session's slot for lists; required whenever `updated_us` enters another slot. Does
// nothing in a database of version 1, which has no slots.
Result<> set_slot(Connection& connection, const SessionId& id, Time updated_at);
// not_found for an unknown session.
Result<> require_session(Connection& connection, const SessionId& id);

}  // namespace reprise::sqlite
