#pragma once

// Sessions that were exported in the format json: one file, or a folder of them. Their ids are our
// own, and stay.

#include "reprise/open_store.h"

namespace reprise::source {

Result<bool> is_exported(const std::filesystem::path& place);
Result<std::unique_ptr<Source>> open_exported(const std::filesystem::path& place,
                                              const StoreOptions& options);

}  // namespace reprise::source
