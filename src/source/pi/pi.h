#pragma once

// pi: sessions/<folder>/<time>_<id>.jsonl, a tree of entries.

#include "reprise/open_store.h"

namespace reprise::source {

Result<bool> is_pi(const std::filesystem::path& place);
// `place` is its folder, the one with the sessions, or one file.
Result<std::unique_ptr<Source>> open_pi(const std::filesystem::path& place,
                                        const StoreOptions& options);

}  // namespace reprise::source
