#pragma once

// Copilot CLI: session-state/<session>/events.jsonl, which has the events of its sub-agents, too.

#include "reprise/open_store.h"

namespace reprise::source {

Result<bool> is_copilot(const std::filesystem::path& place);
// `place` is its folder, the one with the sessions, a session's, or one file.
Result<std::unique_ptr<Source>> open_copilot(const std::filesystem::path& place,
                                             const StoreOptions& options);

}  // namespace reprise::source
