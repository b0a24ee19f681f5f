// Archived sessions are heads in that state, which lists omit unless requested.

#include "reprise/capabilities.h"
#include "store/postgres/auxiliary_statements.h"
#include "store/postgres/connection.h"
#include "store/postgres/database.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"
#include "store/postgres/sessions.h"
#include "store/rules.h"

namespace reprise::postgres {
namespace {

Result<> set_state(Connection& connection, const Key& key, SessionState state) {
  REPRISE_TRY(connection.run({{kSetState, values_of(key, state_number(state))}, {kCommit}}));
  return {};
}

}  // namespace

Result<> PostgresStore::archive(const SessionId& id, Time /*when*/) {
  return database_.write([&](Connection& connection, bool) -> Result<> {
    const Key key{database_.tenant(), id};
    REPRISE_ASSIGN(const SessionInfo info, lock_info(connection, key));
    REPRISE_TRY(store::check_archive(info));
    return set_state(connection, key, SessionState::archived);
  });
}

Result<> PostgresStore::unarchive(const SessionId& id) {
  return database_.write([&](Connection& connection, bool is_unsure) -> Result<> {
    const Key key{database_.tenant(), id};
    REPRISE_ASSIGN(const SessionInfo info, lock_info(connection, key));
    // An earlier attempt with an unknown outcome may have restored it.
    const bool is_back = is_unsure && info.state == SessionState::active;
    const auto state = is_back ? Result<SessionState>(info.state) : store::state_unarchived(info);
    REPRISE_TRY(state);
    return set_state(connection, key, *state);
  });
}

}  // namespace reprise::postgres
