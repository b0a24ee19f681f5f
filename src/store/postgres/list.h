#pragma once

#include "reprise/store.h"
#include "store/postgres/database.h"

namespace reprise::postgres {

Result<SessionPage> list_sessions(Database& database, const SessionQuery& query);

}  // namespace reprise::postgres
