#pragma once

// What `reprise store status` shows.

#include "cli/program/context.h"  // IWYU pragma: export

namespace reprise::cli {

// Of the tenant in the store's URL, or of all that the role sees.
Result<Exit> show_store_status(Context& context, bool all_tenants);

}  // namespace reprise::cli
