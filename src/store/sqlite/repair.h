#pragma once

// Repairs damaged databases.

#include <vector>

#include "reprise/capabilities.h"
#include "reprise/open_store.h"
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

}  // namespace reprise::sqlite
