#pragma once

// Finds the changes since a position by rowids.

#include "reprise/capabilities.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

Result<SessionChanges> changes_since(Connection& connection, std::string_view position);

}  // namespace reprise::sqlite
