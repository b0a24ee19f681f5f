#pragma once

// opencode and Kilo, which is made of it: rows of a database, in older versions JSON files, and
// files of `opencode export`.

#include "reprise/open_store.h"

namespace reprise::source {

Result<bool> is_opencode(const std::filesystem::path& place);
// The tool's data folder, its database, or an export.
Result<std::unique_ptr<Source>> open_opencode(const std::filesystem::path& place,
                                              const StoreOptions& options);
Result<bool> is_kilo(const std::filesystem::path& place);

}  // namespace reprise::source
