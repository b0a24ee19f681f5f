#pragma once

// Finds existing stores in the working folder, its parents, and the default locations.

#include "cli/program/context.h"  // IWYU pragma: export

namespace reprise::cli {

// Their URLs without duplicates. Skips what cannot be read.
std::vector<std::string> find_stores_around(Context& context);

}  // namespace reprise::cli
