#pragma once

// Cline: sessions/<time>_<id>/<id>.messages.json, and <id>.json about it.

#include "reprise/open_store.h"

namespace reprise::source {

Result<bool> is_cline(const std::filesystem::path& place);
// Its folder, the one of the sessions, or one file of messages.
Result<std::unique_ptr<Source>> open_cline(const std::filesystem::path& place,
                                           const StoreOptions& options);

}  // namespace reprise::source
