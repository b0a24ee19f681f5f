#pragma once

// Reads a damaged database page by page when SQLite refuses it, because it is truncated, or because
// its header or the interior pages above its rows are lost.

#include <vector>

#include "reprise/open_store.h"
#include "reprise/source.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

struct SalvagedRows {
  // A temporary database with the tables of the damaged one, without indexes and constraints;
  // truncated rows are shorter.
  std::unique_ptr<Connection> rows;
  std::vector<Damage> damage;  // at least one
};

// Includes the log. Does not change the files. corrupt if there is not a single row of a session or
// message; busy; io if $TMPDIR has not enough space.
Result<SalvagedRows> salvage_rows(const std::filesystem::path& file,
                                  std::chrono::milliseconds busy_timeout,
                                  const ProgressSink& progress);

// Distinguishes a state of the database from the next one.
std::string state_of_files(const std::filesystem::path& file);

}  // namespace reprise::sqlite
