#pragma once

// Copies of a database: before a migration, and for backups.

#include <functional>

#include "reprise/open_store.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

// Writes a snapshot of the connection's database to `target` (mode 0600), checked and synced. It
// appears atomically; conflict if `target` exists. Until then it is a temporary file beside
// `beside`, a file in the same folder, so that the next copy removes the leftovers of a killed one.
// An error of `check`, called when all pages have been read, discards the copy.
Result<> copy_database(Connection& source, const std::filesystem::path& target,
                       const std::filesystem::path& beside, const ProgressSink& progress = {},
                       const std::function<Result<>()>& check = {});

// The same for any new database: `fill` gets a connection to an empty one without a journal.
Result<> build_database(const std::filesystem::path& named, const std::filesystem::path& beside,
                        const std::function<Result<>(Connection& empty)>& fill);

// Copies the pages of the connection's database unchanged into an empty file that nobody else uses.
Result<> copy_pages(Connection& source, const std::filesystem::path& empty);

}  // namespace reprise::sqlite
