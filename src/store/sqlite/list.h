#pragma once

// Pages of sessions, by keyset: a page costs the same at ten sessions and at a million.

#include "reprise/store.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

Result<SessionPage> list_sessions(Connection& connection, const SessionQuery& query);

}  // namespace reprise::sqlite
