#pragma once

// aichat: sessions/<name>.yaml, and messages.md for what was asked without a session.

#include "reprise/open_store.h"

namespace reprise::source {

Result<bool> is_aichat(const std::filesystem::path& place);
// Its folder, the one of the sessions, or one file.
Result<std::unique_ptr<Source>> open_aichat(const std::filesystem::path& place,
                                            const StoreOptions& options);

}  // namespace reprise::source
