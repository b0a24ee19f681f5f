#pragma once

// crush: a database in each project's folder, .crush/crush.db.

#include "reprise/open_store.h"

namespace reprise::source {

Result<bool> is_crush(const std::filesystem::path& place);
// A project's folder, its .crush, the database, or the folder with the list of all projects.
Result<std::unique_ptr<Source>> open_crush(const std::filesystem::path& place,
                                           const StoreOptions& options);

}  // namespace reprise::source
