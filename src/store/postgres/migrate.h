#pragma once

// Migrates the tables for an administrator, while programs of this version and the previous one
// continue to write: rows are changed in batches, each in its own transaction, and indexes are
// built concurrently.

#include <functional>
#include <string_view>

#include "reprise/error.h"
#include "store/postgres/connection.h"

namespace reprise::postgres {

enum class Trial : std::uint8_t { no, yes };  // yes: a dry run

// Reports each step before it is executed. Can be repeated after an interruption.
Result<> migrate_beside(Connection& connection, Trial trial,
                        const std::function<void(std::string_view)>& on_step);

}  // namespace reprise::postgres
