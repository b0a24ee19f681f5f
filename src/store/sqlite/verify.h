#pragma once

// Looks at everything a database holds and lists what is wrong.

#include "reprise/capabilities.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

Result<VerifyReport> verify_database(Connection& connection);

}  // namespace reprise::sqlite
