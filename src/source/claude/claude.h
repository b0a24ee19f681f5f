#pragma once

// Claude Code: projects/<folder>/<session>.jsonl, a tree of lines.

#include "reprise/open_store.h"

namespace reprise::source {

Result<bool> is_claude(const std::filesystem::path& place);
// `place` is its folder, the one with the projects, a project's, or one file.
Result<std::unique_ptr<Source>> open_claude(const std::filesystem::path& place,
                                            const StoreOptions& options);

}  // namespace reprise::source
