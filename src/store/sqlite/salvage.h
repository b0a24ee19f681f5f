#pragma once

// What can be read of a damaged database, page by page, when SQLite itself refuses it: it was cut,
// its header or the pages above its rows are gone.

#include <vector>

#include "reprise/open_store.h"
#include "reprise/source.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

struct SalvagedRows {
  // A temporary database with the tables of the damaged one as they were, without indexes and
  // rules; rows that were cut end earlier.
  std::unique_ptr<Connection> rows;
  std::vector<Damage> damage;  // at least one
};

// What its log holds is read, too. The files are not changed. corrupt when there is not one row of
// a session or a message; busy, and io for want of room in $TMPDIR.
Result<SalvagedRows> salvage_rows(const std::filesystem::path& file,
                                  std::chrono::milliseconds busy_timeout,
                                  const ProgressSink& progress);

// Tells a state of the database from the next one.
std::string state_of_files(const std::filesystem::path& file);

}  // namespace reprise::sqlite
