// Archived sessions are rows in that state, which lists omit unless requested.

#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "store/rules.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/database.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/sessions.h"
#include "store/sqlite/sqlite_store.h"

namespace reprise::sqlite {
namespace {

Result<> set_state(Connection& connection, const SessionId& id, SessionState state) {
  return connection.run("UPDATE sessions SET state = ? WHERE id = ?", to_string(state), id.str());
}

Result<SessionInfo> info_of(Connection& connection, const SessionId& id) {
  REPRISE_TRY(ensure_additions(connection, system_clock().now()));
  REPRISE_ASSIGN(auto found, find_session(connection, id));
  return found ? Result<SessionInfo>(std::move(found->info))
               : std::unexpected(store::no_session(id));
}

}  // namespace

Result<> SqliteStore::archive(const SessionId& id, Time /*when*/) {
  return database_.write(Durability::disk, [&](Connection& connection) -> Result<> {
    REPRISE_ASSIGN(const SessionInfo info, info_of(connection, id));
    REPRISE_ASSIGN(const bool is_to_do, store::check_archive(info));
    return is_to_do ? set_state(connection, id, SessionState::archived) : Result<>();
  });
}

Result<> SqliteStore::unarchive(const SessionId& id) {
  return database_.write(Durability::disk, [&](Connection& connection) -> Result<> {
    REPRISE_ASSIGN(const SessionInfo info, info_of(connection, id));
    REPRISE_ASSIGN(const SessionState state, store::state_unarchived(info));
    return set_state(connection, id, state);
  });
}

}  // namespace reprise::sqlite
