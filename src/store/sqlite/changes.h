#pragma once

// What changed since a position, found by the numbers of rows.

#include "reprise/capabilities.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

Result<SessionChanges> changes_since(Connection& connection, std::string_view position);

}  // namespace reprise::sqlite
