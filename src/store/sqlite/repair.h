#pragma once

// Repairs damaged databases. When SQLite refuses a database, because it is truncated, or because
// its header or the interior pages above its rows are lost, it is read page by page.

#include <vector>

#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "reprise/source.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

// A temporary database for readers with everything that the pages of `file` still contain. Errors
// are those of salvage_rows().
Result<std::unique_ptr<Connection>> salvaged_copy(const std::filesystem::path& file,
                                                  std::chrono::milliseconds busy_timeout,
                                                  const ProgressSink& progress);

// The damage of the file, and of one session, or with "" of all sessions.
Result<std::vector<Damage>> damage_of_salvaged(Connection& salvaged, std::string_view session);
// All damage.
Result<VerifyReport> report_of_salvaged(Connection& salvaged);

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
