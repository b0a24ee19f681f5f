#pragma once

// Continue: sessions/<id>.json.

#include "reprise/open_store.h"

namespace reprise::source {

Result<bool> is_continue(const std::filesystem::path& place);
// Its folder, the one of the sessions, or one file.
Result<std::unique_ptr<Source>> open_continue(const std::filesystem::path& place,
                                              const StoreOptions& options);

}  // namespace reprise::source
