#pragma once

// Whose history a file or folder is, told by its content.

#include <filesystem>

#include "base/json_view.h"
#include "reprise/error.h"

namespace reprise::source {

// Whether one of the first lines of a JSONL file, or of one of the first such files at most `depth`
// folders down, is one that `is_line` knows.
Result<bool> has_lines_of(const std::filesystem::path& place, int depth,
                          bool (*is_line)(JsonView line));

}  // namespace reprise::source
