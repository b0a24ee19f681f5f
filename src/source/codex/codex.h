#pragma once

// Codex: sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl, one line after another. A fork or a
// revert points to where it goes on from, in another file.

#include "reprise/open_store.h"

namespace reprise::source {

Result<bool> is_codex(const std::filesystem::path& place);
// `place` is its folder, the one with the sessions, or one file.
Result<std::unique_ptr<Source>> open_codex(const std::filesystem::path& place,
                                           const StoreOptions& options);

}  // namespace reprise::source
