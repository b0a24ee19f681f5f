#pragma once

// A damaged database as a whole one.

#include <vector>

#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

// A temporary database with all that the pages of `file` still hold, for readers. Errors are those
// of salvage_rows().
Result<std::unique_ptr<Connection>> salvaged_copy(const std::filesystem::path& file,
                                                  std::chrono::milliseconds busy_timeout,
                                                  const ProgressSink& progress);

// What happened to the file, and what is missing of a session or, with "", of all.
Result<std::vector<Damage>> damage_of_salvaged(Connection& salvaged, std::string_view session);
// All of it.
Result<VerifyReport> report_of_salvaged(Connection& salvaged);

}  // namespace reprise::sqlite
