#pragma once

// Making the tables current for an administrator, while programs of this version and the one before
// go on writing: rows change in batches, each a transaction of its own, and indexes are built
// without holding anybody up.

#include <functional>
#include <string_view>

#include "reprise/error.h"
#include "store/postgres/connection.h"

namespace reprise::postgres {

enum class Trial : std::uint8_t { no, yes };  // yes: says what there is to do, and does nothing

// Each step is told before it is taken. Can be run again when it was interrupted.
Result<> migrate_beside(Connection& connection, Trial trial,
                        const std::function<void(std::string_view)>& on_step);

}  // namespace reprise::postgres
