#pragma once

// Where a project keeps its context file.

#include <filesystem>

#include "reprise/error.h"

namespace reprise::store::context {

// Whether there is a file with the members of one. A damaged file is none.
Result<bool> is_context_file(const std::filesystem::path& file);

}  // namespace reprise::store::context
