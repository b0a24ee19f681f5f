#pragma once

// Looks at everything a database holds and lists what is wrong.

#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

Result<VerifyReport> verify_database(Connection& connection, const ProgressSink& progress);

}  // namespace reprise::sqlite
