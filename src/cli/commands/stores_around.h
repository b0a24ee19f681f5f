#pragma once

// The stores that are there: in the working folder and those above it, and in the usual places.

#include "cli/program/context.h"  // IWYU pragma: export

namespace reprise::cli {

// Their URLs, each once. What cannot be looked at is left out.
std::vector<std::string> find_stores_around(Context& context);

}  // namespace reprise::cli
