#pragma once

#include "reprise/source.h"

namespace reprise::postgres {

class Database;

Result<SessionPage> list_sessions(Database& database, const SessionQuery& query);

}  // namespace reprise::postgres
