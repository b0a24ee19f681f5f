#pragma once

// Whole copies of a database: before a migration, and for backups.

#include <functional>

#include "reprise/open_store.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

// A snapshot of the connection's database at `target`, 0600, checked and synced. It appears
// complete or not at all; conflict when `target` exists. Until then it is a temporary file beside
// `beside`, a file in the same folder, so that the next copy takes away what a killed one left.
Result<> copy_database(Connection& source, const std::filesystem::path& target,
                       const std::filesystem::path& beside, const ProgressSink& progress = {});

// The same for any new database: `fill` gets a connection to an empty one, without a journal.
Result<> build_database(const std::filesystem::path& named, const std::filesystem::path& beside,
                        const std::function<Result<>(Connection& empty)>& fill);

// The pages of the connection's database, as they are, into an empty file that nobody else reads.
Result<> copy_pages(Connection& source, const std::filesystem::path& empty);

}  // namespace reprise::sqlite
